"""Payloads of NVTX events that are no whole numbers: texts as short as they can be, and nothing out of damage."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.tables import ABSENT
from nsysan.model.trace import Trace
from nsysan.synth.export import Export
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from tests.ingest.reading import edit, read
from tests.nsys import find_nsys, profile_ranges

DOMAIN, SCHEMA = 3, 1 << 25
ENTRIES = "NVTX_PAYLOAD_SCHEMA_ENTRIES"


def payloads(trace: Trace) -> dict[str, str]:
    """The payload of each range and mark that bears such a one, by the text of the event."""
    found = {}
    for events, details in (
        (trace.nvtx_ranges, trace.nvtx_range_details),
        (trace.nvtx_marks, trace.nvtx_mark_details),
    ):
        if events is not None and details is not None:
            for row, payload_id in zip(details.row.tolist(), details.payload_id.tolist(), strict=True):
                if payload_id != ABSENT:
                    found[trace.text(int(events.name_id[row]))] = trace.text(payload_id)
    return found


def test_floating_point_payloads(tmp_path: Path) -> None:
    export = Export().nvtx(0, 9, "loss").nvtx(0, 9, "lr", tid=7).nvtx(10, 19, "whole").nvtx(20, 29, "bare")
    export.nvtx_mark(10, "scale").nvtx_range(0, 9, "temperature").nvtx(30, 39, "damaged")
    export.sql("UPDATE NVTX_EVENTS SET floatValue = 1e300 WHERE text = 'damaged'")
    export.sql("UPDATE NVTX_EVENTS SET doubleValue = 2.125 WHERE text = 'loss'")
    # 0.1 in single precision is 0.10000000149011612
    export.sql("UPDATE NVTX_EVENTS SET floatValue = 0.10000000149011612 WHERE text = 'lr'")
    export.sql("UPDATE NVTX_EVENTS SET uint64Value = 12 WHERE text = 'whole'")
    export.sql("UPDATE NVTX_EVENTS SET doubleValue = 65536 WHERE text = 'scale'")
    export.sql("UPDATE NVTX_EVENTS SET doubleValue = 9e999 WHERE text = 'temperature'")

    told = payloads(read(export.write(tmp_path / "a.sqlite", shuffle_seed=3)))

    assert told == {"loss": "2.125", "lr": "0.1", "scale": "65536.0", "temperature": "inf", "damaged": "inf"}


def described(*entries: tuple[int, int, str, int | None], flags: int = 0, schema: int = SCHEMA) -> str:
    """The statement that registers a schema with entries of (index, type, name, offset)."""
    rows = ", ".join(
        f"({DOMAIN}, {schema}, {index}, {flags}, {kind}, '{name}', {'NULL' if offset is None else offset})"
        for index, kind, name, offset in entries
    )
    return f"INSERT INTO {ENTRIES} (domainId, schemaId, idx, flags, type, name, offset) VALUES {rows}"


def blob(data: bytes) -> bytes:
    return struct.pack("<IIIIQQ", DOMAIN, 0, SCHEMA, 0, len(data), 32 + len(data)) + data


UINT32, FLOAT, DOUBLE, CSTRING = 16, 19, 20, 75
BATCH = ((0, UINT32, "tokens", None), (1, FLOAT, "lr", 4), (2, DOUBLE, "loss", 8), (3, CSTRING, "name", 16))
DATA = struct.pack("<IfdQ", 4096, 0.1, 2.125, 77)


def batch_export(data: bytes) -> Export:
    """One range with a payload of our own, beside one of NCCL's."""
    export = Export().nvtx(0, 9, "batch", domain=DOMAIN, payload=blob(data)).nvtx_domain(DOMAIN, "training")
    all_reduce = Payload(PayloadSchema.ALL_REDUCE, (7, 512, 0))
    return export.payload_schema(PayloadSchema.ALL_REDUCE, domain=2).nvtx(
        0, 5, "ncclAllReduce", domain=2, payload=all_reduce.blob(2)
    )


NCCL = {"ncclAllReduce": "NCCL communicator ID 7, Message size [bytes] 512"}


def test_binary_payloads_by_their_schema(tmp_path: Path) -> None:
    path = batch_export(DATA).sql(described(*BATCH)).write(tmp_path / "a.sqlite")

    # the numbers; strings and what has a schema of its own are pointers or need more
    assert payloads(read(path)) == {"batch": "tokens 4096, lr 0.1, loss 2.125", **NCCL}


def test_numbers_without_a_sign_whose_highest_bit_is_set(tmp_path: Path) -> None:
    export = Export().nvtx(0, 9, "hash").nvtx(10, 19, "small").nvtx(20, 29, "negative")
    # SQLite shows 2^64 - 5 as -5
    export.sql("UPDATE NVTX_EVENTS SET uint64Value = -5 WHERE text = 'hash'")
    export.sql("UPDATE NVTX_EVENTS SET uint64Value = 12 WHERE text = 'small'")
    export.sql("UPDATE NVTX_EVENTS SET int64Value = -5 WHERE text = 'negative'")

    assert payloads(read(export.write(tmp_path / "a.sqlite"))) == {"hash": "18446744073709551611"}


INNER, UINT64 = SCHEMA + 1, 18


def test_a_schema_inside_another(tmp_path: Path) -> None:
    # tokens, then at 8 an optimizer of a step and a seed of 64 bits without a sign
    outer = described((0, UINT32, "tokens", None), (1, INNER, "optimizer", 8))
    inner = described((0, UINT32, "step", None), (1, UINT64, "seed", 8), schema=INNER)
    data = struct.pack("<IxxxxIxxxxQ", 4096, 7, (1 << 63) + 1)

    path = batch_export(data).sql(outer).sql(inner).write(tmp_path / "a.sqlite")

    assert payloads(read(path))["batch"] == "tokens 4096, optimizer.step 7, optimizer.seed 9223372036854775809"


def test_schemas_that_name_each_other_have_an_end(tmp_path: Path) -> None:
    widely = [(index, SCHEMA, f"again{index}", None if index == 0 else 0) for index in range(1, 60)]

    path = batch_export(DATA).sql(described((0, UINT32, "tokens", None), *widely)).write(tmp_path / "a.sqlite")

    assert len(payloads(read(path))["batch"].split(", ")) == 64


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE NVTX_EVENTS SET binaryData = substr(binaryData, 1, 44) WHERE text = 'batch'", {}),
        ("UPDATE NVTX_EVENTS SET binaryData = substr(binaryData, 1, 20) WHERE text = 'batch'", {}),
        ("UPDATE NVTX_EVENTS SET binaryData = 'text' WHERE text = 'batch'", {}),
        (f"DELETE FROM {ENTRIES} WHERE schemaId = {SCHEMA}", {}),
        (f"UPDATE {ENTRIES} SET offset = 1 << 40 WHERE name = 'loss'", {"batch": "tokens 4096, lr 0.1"}),
        (f"UPDATE {ENTRIES} SET offset = -4 WHERE name = 'loss'", {"batch": "tokens 4096, lr 0.1"}),
        # an array, and what two processes put at two places
        (f"UPDATE {ENTRIES} SET flags = 16 WHERE name = 'lr'", {"batch": "tokens 4096, loss 2.125"}),
        (described((1, FLOAT, "lr", 12)), {"batch": "tokens 4096, loss 2.125"}),
    ],
)
def test_what_is_damaged_tells_nothing(tmp_path: Path, damage: str, told: dict[str, str]) -> None:
    path = batch_export(DATA).sql(described(*BATCH)).write(tmp_path / "a.sqlite")

    assert payloads(read(edit(path, damage))) == {**told, **NCCL}


def test_of_events_that_cannot_be_told_apart_one_bears_it(tmp_path: Path) -> None:
    export = Export().nvtx(0, 9, "outer").nvtx(0, 9, "inner")
    export.sql("UPDATE NVTX_EVENTS SET doubleValue = 1.5 WHERE text = 'inner'")

    assert list(payloads(read(export.write(tmp_path / "a.sqlite"))).values()) == ["1.5"]


PROGRAM = """
import nvtx
with nvtx.annotate("loss", payload=2.125), nvtx.annotate("tokens", payload=4096):
    pass
nvtx.mark("scale", payload=0.1)
"""


@pytest.mark.nsys
def test_payloads_as_the_real_nsys_records_them(tmp_path: Path) -> None:
    nsys = find_nsys()
    (tmp_path / "program.py").write_text(PROGRAM)
    report = profile_ranges(tmp_path, sys.executable, "program.py")

    trace = read_trace(report, ReadOptions(nsys=nsys))

    assert payloads(trace) == {"loss": "2.125", "scale": "0.1"}
    details = trace.nvtx_range_details
    assert details is not None
    assert 4096 in details.payload.tolist()
