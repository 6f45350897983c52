"""What NCCL attaches to its ranges: exact values out of blobs and JSON, and nothing out of what is damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.model.tables import ABSENT
from nsysan.synth.export import Export
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from tests.ingest.reading import edit, read, rows

DOMAIN = 3
COMMUNICATOR = 0xFEDC_BA98_7654_3210
SIGNED = COMMUNICATOR - (1 << 64)
ALL_REDUCE = Payload(PayloadSchema.ALL_REDUCE, (COMMUNICATOR, 5_000_000_000, 0))


def _export(*payloads: Payload, schemas: tuple[PayloadSchema, ...] = tuple(PayloadSchema)) -> Export:
    export = Export().nvtx_domain(DOMAIN, "NCCL").kernel(0, 9, "gemm")
    for schema in schemas:
        export.payload_schema(schema, domain=DOMAIN)
    for place, payload in enumerate(payloads):
        export.nvtx(100 * place, 100 * place + 9, "nccl", domain=DOMAIN, payload=payload.blob(DOMAIN))
    return export


def test_every_kind_of_payload(tmp_path: Path) -> None:
    export = _export(
        ALL_REDUCE,
        Payload(PayloadSchema.BROADCAST, (COMMUNICATOR, 64, 3)),
        Payload(PayloadSchema.SEND, (COMMUNICATOR, 128, 2)),
        Payload(PayloadSchema.COMM_INIT_RANK_CONFIG, (7, 16, 5, 1)),
        Payload(PayloadSchema.ALL_GATHER, (7, 256)),
    )

    trace = read(export.write(tmp_path / "a.sqlite", shuffle_seed=3))

    columns = ("start_ns", "communicator_id", "size_bytes", "root", "peer", "rank", "rank_count", "device_id")
    nothing = ABSENT
    assert sorted(rows(trace.nccl_payloads, *columns)) == [
        (0, SIGNED, 5_000_000_000, nothing, nothing, nothing, nothing, nothing),
        (100, SIGNED, 64, 3, nothing, nothing, nothing, nothing),
        (200, SIGNED, 128, nothing, 2, nothing, nothing, nothing),
        (300, 7, nothing, nothing, nothing, 5, 16, 1),
        (400, 7, 256, nothing, nothing, nothing, nothing, nothing),
    ]


@pytest.mark.parametrize(
    "damage",
    [
        # cut off, longer than it says, a text, of a schema that is not described, with no header
        "UPDATE NVTX_EVENTS SET binaryData = substr(binaryData, 1, 40)",
        "UPDATE NVTX_EVENTS SET binaryData = substr(binaryData, 1, 32)",
        "UPDATE NVTX_EVENTS SET binaryData = 'text' WHERE binaryData IS NOT NULL",
        "UPDATE NVTX_EVENTS SET binaryData = x'00' WHERE binaryData IS NOT NULL",
        "DELETE FROM NVTX_PAYLOAD_SCHEMA_ENTRIES",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET name = 'other'",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET offset = -8",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET offset = 1 << 40",
    ],
)
def test_what_is_damaged_tells_nothing(tmp_path: Path, damage: str) -> None:
    path = edit(_export(ALL_REDUCE, schemas=(PayloadSchema.ALL_REDUCE,)).write(tmp_path / "a.sqlite"), damage)

    payloads = read(path).nccl_payloads

    told = [] if payloads is None else rows(payloads, "communicator_id", "size_bytes")
    assert set(told) <= {(ABSENT, ABSENT)}


def test_an_entry_that_lies_at_two_places_is_at_none(tmp_path: Path) -> None:
    """Processes with releases of NCCL before and after 2.25: the message size was first, then second."""
    path = edit(
        _export(ALL_REDUCE).write(tmp_path / "a.sqlite"),
        "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name) "
        f"VALUES (9, {PayloadSchema.ALL_REDUCE.id}, 0, 22, 'Message size [bytes]')",
    )

    assert rows(read(path).nccl_payloads, "communicator_id", "size_bytes") == [(SIGNED, ABSENT)]


def test_sizes_that_no_memory_holds_are_unknown(tmp_path: Path) -> None:
    large = Payload(PayloadSchema.ALL_REDUCE, (COMMUNICATOR, 1 << 60, 0))

    assert rows(read(_export(large).write(tmp_path / "a.sqlite")).nccl_payloads, "size_bytes") == [(ABSENT,)]


@pytest.mark.parametrize("column", ["jsonText", "jsonTextId"])
def test_the_same_as_json(tmp_path: Path, column: str) -> None:
    told = json.dumps({"payload": {"NCCL communicator ID": COMMUNICATOR, "Message size [bytes]": 512, "Root": "0x2"}})
    value = "9999" if column == "jsonTextId" else f"'{told}'"
    path = edit(
        Export().kernel(0, 9, "gemm").nvtx(20, 30, "ncclReduce").nvtx(40, 50, "other").write(tmp_path / "a.sqlite"),
        f"INSERT INTO StringIds (id, value) VALUES (9999, '{told}')",
        f"UPDATE NVTX_EVENTS SET {column} = {value} WHERE start = 20",
        f"UPDATE NVTX_EVENTS SET {column} = {'31' if column == 'jsonTextId' else repr('[' * 9999)} WHERE start = 40",
    )

    assert rows(read(path).nccl_payloads, "start_ns", "communicator_id", "size_bytes", "root") == [(20, SIGNED, 512, 2)]


def test_payloads_are_moved_with_their_ranges(tmp_path: Path) -> None:
    path = edit(
        _export(ALL_REDUCE).write(tmp_path / "a.sqlite"),
        "UPDATE NVTX_EVENTS SET start = start + 5000, end = end + 5000",
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 5000, end = end + 5000",
        "UPDATE META_DATA_EXPORT SET value = '5000' WHERE name = 'EXPORT_CONFIG_TIME_SHIFT'",
    )

    trace = read(path)

    assert rows(trace.nccl_payloads, "start_ns") == rows(trace.nvtx_ranges, "start_ns") == [(0,)]
