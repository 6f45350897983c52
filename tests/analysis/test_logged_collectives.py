"""Collectives whose calls a log of NCCL completes: sizes, types, communicators and ranks that the trace lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.nccl_logs import NcclLogs
from nsysan.model.trace import RankSource
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from tests.analysis.nccl_traces import ALL_GATHER, ALL_REDUCE, COMMUNICATOR, DOMAIN, MS, SEND_RECV, job, launched
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.run import Run

HOST = "node0"
NAMES = {"AllReduce": ALL_REDUCE, "AllGather": ALL_GATHER, "Send": SEND_RECV}
MIB = 1 << 20


def report(pid: int, *calls: str, with_ranges: bool = True, host: str = f"{HOST}.cluster") -> Export:
    """A process that makes these calls, a millisecond apart, and tells nothing of them but their names."""
    export = Export().host(host).nvtx_domain(DOMAIN, "NCCL", pid=pid)
    for place, name in enumerate(calls, start=1):
        begin = place * MS
        if with_ranges:
            export.nvtx(begin, begin + 9, f"nccl{name}", pid=pid, domain=DOMAIN)
        export.call(begin + 1, begin + 5, "cudaLaunchKernelExC_v11060", pid=pid, correlation=place)
        export.kernel(begin + 100, begin + 100_100, NAMES[name], pid=pid, stream=9, correlation=place)
    return export


def line(pid: int, name: str, count: int, op: int = 0, *, dtype: int = 7, host: str = HOST) -> str:  # noqa: PLR0913
    return (
        f"{host}:{pid}:{pid} [0] NCCL INFO {name}: opCount {op:x} sendbuff 0x1 recvbuff 0x2 count {count} "
        f"datatype {dtype} op 0 root 0 comm 0xa [nranks=2] stream 0x5"
    )


def made(pid: int, rank: int, host: str = HOST) -> str:
    told = f"comm 0xa rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 5 commId 0x13c - Init COMPLETE"
    return f"{host}:{pid}:{pid + 1} [0] NCCL INFO ncclCommInitRank {told}"


def analyzed(folder: Path, lines: list[str], *exports: Export) -> Run:
    log = folder / "nccl.log"
    log.write_text("\n".join(lines) + "\n")
    return analyze_exports(folder, *exports, options=AnalyzeOptions(evidence=(log,)))


def told(row: CollectiveRow) -> tuple[object, ...]:
    return row.kind, row.communicator, row.bytes, row.dtype, row.count


@pytest.mark.parametrize("with_ranges", [True, False], ids=["with NCCL's ranges", "by kernels alone"])
def test_bytes_types_and_communicators(tmp_path: Path, *, with_ranges: bool) -> None:
    # C27: the log counts one rank's part of an all-gather: 8 Mi elements of 4 bytes are 64 MiB over two ranks
    calls = ("AllGather", "AllReduce", "AllGather")
    lines = [
        text
        for pid, rank in ((100, 1), (101, 0))
        for text in (
            made(pid, rank),
            line(pid, "AllGather", 8 * MIB),
            line(pid, "AllReduce", 512, 1, dtype=9),
            line(pid, "AllGather", 8 * MIB, 2),
        )
    ]

    run = analyzed(tmp_path, lines, *(report(pid, *calls, with_ranges=with_ranges) for pid in (100, 101)))

    found = result_of(run, Collectives)
    assert sorted(map(told, found.collectives)) == [
        ("all_gather", "0x000000000000013c", 64 * MIB, "float32", 2),
        ("all_reduce", "0x000000000000013c", 1024, "bfloat16", 1),
    ]
    assert {row.complete_count for row in found.collectives} == {2, 1}
    # the log says as well that process 101 is rank 0
    assert [(rank.rank, rank.device, rank.source) for rank in found.ranks] == [
        (0, "r1/p101/d0", RankSource.COMMUNICATOR),
        (1, "r0/p100/d0", RankSource.COMMUNICATOR),
    ]
    [log] = result_of(run, NcclLogs).nccl_logs
    assert (log.call_count, log.process_count, log.used_call_count) == (6, 2, 6)


def test_a_capture_from_the_middle_of_the_log(tmp_path: Path) -> None:
    logged = [
        ("AllReduce", 1),
        ("AllGather", 2),
        ("AllReduce", 3),
        ("AllGather", 4),
        ("AllGather", 5),
        ("AllReduce", 6),
    ]
    lines = [line(100, name, count, op) for op, (name, count) in enumerate(logged)]

    run = analyzed(tmp_path, lines, report(100, "AllGather", "AllGather", "AllReduce"))

    # only the last three follow each other so; all-gathers of 4 and 5 elements over two ranks
    assert sorted(row.bytes or 0 for row in result_of(run, Collectives).collectives) == [24, 32, 40]


def test_what_several_stretches_of_the_log_differ_in_is_unknown(tmp_path: Path) -> None:
    lines = [line(100, "AllReduce", count, op) for op, count in enumerate((1, 2, 1, 2))]

    run = analyzed(tmp_path, lines, report(100, "AllReduce", "AllReduce"))

    [row] = result_of(run, Collectives).collectives
    assert (row.bytes, row.dtype, row.count) == (None, "float32", 2)


@pytest.mark.parametrize(
    ("lines", "process_count"),
    [
        ([line(100, "AllReduce", 1, host="other")], 0),
        ([line(999, "AllReduce", 1)], 0),
        ([line(100, "AllGather", 1)], 1),
    ],
    ids=["of another host", "of another process", "of other calls"],
)
def test_a_log_of_something_else_tells_nothing(tmp_path: Path, lines: list[str], process_count: int) -> None:
    run = analyzed(tmp_path, lines, report(100, "AllReduce"))

    assert [told(row) for row in result_of(run, Collectives).collectives] == [("all_reduce", None, None, None, 1)]
    [log] = result_of(run, NcclLogs).nccl_logs
    assert (log.process_count, log.used_call_count) == (process_count, 0)


def test_processes_of_one_number_on_two_hosts_are_told_apart(tmp_path: Path) -> None:
    lines = [line(100, "AllReduce", 1, host="a"), line(100, "AllReduce", 1, host="b")]

    run = analyzed(tmp_path, lines, *(report(100, "AllReduce", host=host) for host in ("a", "b")))

    [log] = result_of(run, NcclLogs).nccl_logs
    assert (log.process_count, log.used_call_count) == (2, 2)


def test_the_log_of_one_rank_names_no_communicator(tmp_path: Path) -> None:
    """Else the other rank, of which nothing is told, would be missing from it."""
    lines = [made(100, 0), line(100, "AllReduce", 1)]

    [row] = result_of(
        analyzed(tmp_path, lines, report(100, "AllReduce"), report(101, "AllReduce")), Collectives
    ).collectives

    assert (row.communicator, row.bytes, row.ranks, row.complete_count) == (None, 4, (0, 1), 1)


def test_sizes_beyond_all_memory_are_unknown(tmp_path: Path) -> None:
    lines = [line(100, "AllGather", (1 << 42) - 1).replace("nranks=2", "nranks=99999999")]

    [row] = result_of(analyzed(tmp_path, lines, report(100, "AllGather")), Collectives).collectives

    assert (row.bytes, row.dtype) == (None, "float32")


def test_what_the_trace_tells_stays(tmp_path: Path) -> None:
    export = job(100, 101)
    for pid in (100, 101):
        payload = Payload(PayloadSchema.ALL_REDUCE, (COMMUNICATOR, 300, 0))
        launched(export, pid, 5 * MS, (10 * MS, 20 * MS), ALL_REDUCE, {"ncclAllReduce": payload})
    lines = [line(pid, "AllReduce", 999) for pid in (100, 101)]

    [row] = result_of(analyzed(tmp_path, lines, export.host(HOST)), Collectives).collectives

    assert told(row) == ("all_reduce", f"0x{COMMUNICATOR:016x}", 300, "float32", 1)


def test_numbers_of_calls_pair_instances(tmp_path: Path) -> None:
    """One rank's capture began a call later: NCCL's numbers tell which calls belong together."""
    kinds = ("AllReduce", "AllGather", "AllReduce", "AllReduce")
    lines = [
        text
        for pid, rank in ((100, 0), (101, 1))
        for text in (made(pid, rank), *(line(pid, name, 1 + op, op) for op, name in enumerate(kinds)))
    ]

    run = analyzed(tmp_path, lines, report(100, *kinds), report(101, *kinds[1:]))

    rows = {(row.kind, row.bytes): (row.count, row.complete_count) for row in result_of(run, Collectives).collectives}
    # the all-reduces are of 1, 3 and 4 elements of 4 bytes, the all-gather of 2 on each of two ranks
    assert rows == {
        ("all_reduce", 4): (1, 0),
        ("all_gather", 16): (1, 1),
        ("all_reduce", 12): (1, 1),
        ("all_reduce", 16): (1, 1),
    }
