"""What NCCL tells in its NVTX ranges, as an export with blobs holds it."""

from __future__ import annotations

import sqlite3
import struct
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.synth.export import Export
from nsysan.synth.files import write
from nsysan.synth.generate import Generated, generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from nsysan.synth.trace_kind import TraceKind
from nsysan.synth.truth.job_truth import CollectiveTruth
from tests.synth.test_schema_fidelity import shared_file

Values = dict[str, int]
TYPES = {5: "i", 18: "Q", 22: "Q", (1 << 24) + 24: "i"}


def generated(scenario: str, **options: object) -> Generated:
    request = Request(
        scenario=find_scenario(scenario),
        rank_count=4,
        step_count=2,
        includes_blobs=True,
        **options,  # type: ignore[arg-type]  # the request's own fields
    )
    return generate(request)


def told(path: Path) -> list[tuple[int, str, Values]]:
    """Process, text and values of every range with a payload, read by the tables of schemas alone."""
    with closing(sqlite3.connect(path)) as connection:
        entries: dict[int, dict[int, tuple[int, str, int]]] = {}
        for schema_id, index, *entry in connection.execute(
            "SELECT schemaId, idx, type, name, ifnull(offset, 0) FROM NVTX_PAYLOAD_SCHEMA_ENTRIES WHERE domainId = 1"
        ):
            entries.setdefault(schema_id, {})[index] = (entry[0], entry[1], entry[2])
        sizes = dict(connection.execute("SELECT schemaId, payloadSize FROM NVTX_PAYLOAD_SCHEMAS"))
        rows = connection.execute(
            """SELECT globalTid >> 24 & 0xFFFFFF, value, binaryData FROM NVTX_EVENTS JOIN StringIds ON id = textId
               WHERE binaryData IS NOT NULL ORDER BY start"""
        ).fetchall()
    found = []
    for pid, text, blob in rows:
        domain_id, _, schema_id, _, size, whole = struct.unpack("<IIIIQQ", blob[:32])
        assert (domain_id, size, whole) == (1, sizes[schema_id], len(blob))
        values = {
            name: struct.unpack_from("<" + TYPES[kind], blob, 32 + offset)[0]
            for kind, name, offset in entries[schema_id].values()
        }
        found.append((pid, text, values))
    return found


def test_a_blob_is_a_header_and_the_structure() -> None:
    blob = Payload(PayloadSchema.BROADCAST, (0xFFFF_0000_1234_5678, 4_096, 3)).blob(1)

    header = "01000000 00000000 06000001 00000000 1800000000000000 3800000000000000"
    assert blob == bytes.fromhex(f"{header} 78563412 0000ffff 0010000000000000 03000000 00000000")


def test_structures_are_those_of_a_real_capture() -> None:
    real = shared_file("traces", "alltoall-2xH100-after.sqlite")
    with closing(sqlite3.connect(f"{real.as_uri()}?immutable=1", uri=True)) as connection:
        sizes = dict(connection.execute("SELECT schemaId, payloadSize FROM NVTX_PAYLOAD_SCHEMAS"))
        entries = set(connection.execute("SELECT schemaId, idx, type, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES"))
    # the capture's NCCL is older, and numbered its reduction operations 16
    reduction, older_reduction = (1 << 24) + 24, (1 << 24) + 16

    compared = [schema for schema in PayloadSchema if schema.id in sizes]
    assert len(compared) == 6
    for schema in compared:
        ours = {
            (schema.id, index, older_reduction if kind == reduction else kind, name, offset or None)
            for index, ((kind, name), offset) in enumerate(zip(schema.entries, schema.offsets, strict=True))
        }
        assert schema.layout.size == sizes[schema.id]
        assert ours == {entry for entry in entries if entry[0] == schema.id}


@pytest.mark.parametrize("layout", [Layout.ONE, Layout.MASKED])
def test_only_the_making_of_a_communicator_tells_its_size_and_the_rank(layout: Layout, tmp_path: Path) -> None:
    job = generated("tensor_parallel", layout=layout)
    write(job, tmp_path)

    made = [
        (pid, f"0x{values['NCCL communicator ID']:016x}", *list(values.values())[1:])
        for pid, text, values in told(tmp_path / "tensor-parallel.sqlite")
        if text == "ncclCommInitRankConfig"
    ]

    pids = {rank.rank: rank.pid for rank in job.truth.ranks}
    devices = {rank.rank: rank.device_id for rank in job.truth.ranks}
    communicators = {(run.communicator, run.ranks) for run in job.truth.collectives}
    assert len(communicators) == 4
    assert sorted(made) == sorted(
        (pids[rank], communicator, 2, ranks.index(rank), devices[rank])
        for communicator, ranks in communicators
        for rank in ranks
    )


def test_sizes_are_those_of_the_calls_own_arguments(tmp_path: Path) -> None:
    for scenario in ("tensor_parallel", "rooted_collectives"):
        job = generated(scenario)
        write(job, tmp_path)

        payloads = Counter(
            (text, f"0x{values['NCCL communicator ID']:016x}", values["Message size [bytes]"], values.get("Root"))
            for _, text, values in told(tmp_path / f"{scenario.replace('_', '-')}.sqlite")
            if "Message size [bytes]" in values
        )

        expected: Counter[tuple[str, str, int, int | None]] = Counter()
        for run in job.truth.collectives:
            expected[_call(run)] += len(run.ranks)
        assert payloads == expected


def _call(run: CollectiveTruth) -> tuple[str, str, int, int | None]:
    """The call and its message size by NCCL's convention: all of it, one rank's part, or what goes to one peer."""
    name, divisor = {
        Collective.ALL_REDUCE: ("ncclAllReduce", 1),
        Collective.REDUCE_SCATTER: ("ncclReduceScatter", len(run.ranks)),
        Collective.ALL_GATHER: ("ncclAllGather", len(run.ranks)),
        Collective.BROADCAST: ("ncclBroadcast", 1),
        Collective.REDUCE: ("ncclReduce", 1),
        Collective.GATHER: ("ncclGather", len(run.ranks)),
        Collective.SCATTER: ("ncclScatter", len(run.ranks)),
    }[run.kind]
    return name, run.communicator, run.size_bytes // divisor, run.root


def test_an_all_to_all_is_a_group_of_messages_and_its_kernel_is_launched_at_the_end(tmp_path: Path) -> None:
    job = generated("moe_skew")
    write(job, tmp_path)
    path = tmp_path / "moe-skew.sqlite"

    sent: Counter[int] = Counter()
    received: Counter[int] = Counter()
    peers: set[tuple[int, int]] = set()
    for pid, text, values in told(path):
        if text in {"ncclSend", "ncclRecv"}:
            rank = pid - 1_000
            (sent if text == "ncclSend" else received)[rank] += values["Message size [bytes]"]
            peers.add((rank, values["Peer rank"]))

    moved = [
        (run.sent_by_rank_bytes, run.received_by_rank_bytes)
        for run in job.truth.collectives
        if run.sent_by_rank_bytes is not None and run.received_by_rank_bytes is not None
    ]
    assert [sent[rank] for rank in range(4)] == [sum(out[rank] for out, _ in moved) for rank in range(4)]
    assert [received[rank] for rank in range(4)] == [sum(into[rank] for _, into in moved) for rank in range(4)]
    assert len(peers) == 4 * 4
    with closing(sqlite3.connect(path)) as connection:
        [launches] = connection.execute(
            """SELECT count(*) FROM NVTX_EVENTS n JOIN StringIds s ON s.id = n.textId
               JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = n.globalTid AND r.start >= n.start AND r.end <= n.end
               JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId
                 AND k.globalPid = r.globalTid & ~0xFFFFFF
               JOIN StringIds d ON d.id = k.demangledName
               WHERE s.value = 'ncclGroupEnd' AND d.value LIKE 'ncclDevKernel_SendRecv%'"""
        )
    assert launches == (4 * len(moved),)


def test_reductions_are_named(tmp_path: Path) -> None:
    write(generated("healthy"), tmp_path)

    with closing(sqlite3.connect(tmp_path / "healthy.sqlite")) as connection:
        # one row per process, as nsys writes what each registered
        enums = connection.execute("SELECT schemaId, numEntries, size, count(*) FROM NVTX_PAYLOAD_ENUMS").fetchall()
        values = set(connection.execute("SELECT name, value FROM NVTX_PAYLOAD_ENUM_ENTRIES"))
    assert enums == [((1 << 24) + 24, 5, 4, 4)]
    assert values == {("Sum", 0), ("Product", 1), ("Max", 2), ("Min", 3), ("Avg", 4)}


def test_without_blobs_schemas_describe_what_is_not_there_and_communicators_were_made_before(tmp_path: Path) -> None:
    plain = generate(Request(scenario=find_scenario("healthy"), rank_count=4, step_count=2))
    write(plain, tmp_path)

    with closing(sqlite3.connect(tmp_path / "healthy.sqlite")) as connection:
        schemas = {schema_id for (schema_id,) in connection.execute("SELECT schemaId FROM NVTX_PAYLOAD_SCHEMAS")}
        settings = dict(connection.execute("SELECT name, value FROM META_DATA_EXPORT"))
        [filled] = connection.execute("SELECT count(binaryData) FROM NVTX_EVENTS")
        texts = {text for (text,) in connection.execute("SELECT value FROM StringIds")}
    # as in real exports, where the blobs are left out by default and the schemas are not
    assert schemas == {PayloadSchema.ALL_REDUCE.id}
    assert settings["EXPORT_PARAM_INCLUDE_BLOBS"] == "false"
    assert filled == (0,)
    assert "ncclCommInitRankConfig" not in texts
    # the making of the one communicator takes 2 ms
    later = generated("healthy").truth
    assert [rank.window_start_ns - 2_000_000 for rank in later.ranks] == [
        rank.window_start_ns for rank in plain.truth.ranks
    ]
    assert later.recoverable == plain.truth.recoverable


@pytest.mark.parametrize("options", [{"schema": "3.7"}, {"file_format": FileFormat.KINETO}])
def test_what_has_no_payloads_refuses_them(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="hold payloads of NVTX ranges"):
        generated("healthy", **options)


def test_without_ranges_there_is_nothing_to_attach_them_to() -> None:
    with pytest.raises(UsageError, match="Without ranges there are no payloads"):
        generated("healthy", kinds=frozenset({TraceKind.CUDA}))


def test_the_old_schema_has_no_column_for_one() -> None:
    with pytest.raises(ValueError, match=r"schema 3\.7 has no payloads"):
        Export("3.7").nvtx(0, 1, "ncclAllReduce", payload=b"x")
    with pytest.raises(ValueError, match=r"schema 3\.7 has no table NVTX_PAYLOAD_SCHEMAS"):
        Export("3.7").payload_schema(PayloadSchema.ALL_REDUCE, domain=1)
