"""Collectives of real captures: two GPUs in one report of Nsight Systems, and two ranks of PyTorch's profiler."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.stragglers import Stragglers
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from tests.runs import result_of

SHARED = Path(__file__).parents[3] / "shared"
ALL_TO_ALL = SHARED / "traces" / "alltoall-2xH100-before.sqlite"
MEGATRON = [SHARED / "evidence" / f"torch-megatron-tp2-rank{rank}.pt.trace.json.gz" for rank in (0, 1)]

pytestmark = pytest.mark.skipif(not ALL_TO_ALL.exists(), reason="the shared real traces are not beside this checkout")


def test_an_all_to_all_of_two_gpus() -> None:
    run = analyze([ALL_TO_ALL], AnalyzeOptions())

    [row] = result_of(run, Collectives).collectives
    assert (row.kind, row.count, row.complete_count) == ("send_recv", 33, 33)
    # rank 0 is process 144, rank 1 is process 145
    assert (row.transfer_ns, row.wait_by_rank_ns) == (5_777_111, (11_395_541, 2_451_989))
    assert (row.bytes, row.busbw_bytes_per_s) == (None, None)
    assert [rank.device for rank in result_of(run, Collectives).ranks] == ["r0/p144/d0", "r0/p145/d1"]
    # ends on one clock differ by 10 to 20 us: each is half of that from the middle
    [report] = run.reports
    assert report.clock_residual_ns is not None
    assert 5_000 < report.clock_residual_ns < 13_000


def test_transfer_is_the_shorter_of_two_durations_straight_from_the_table() -> None:
    query = """SELECT globalPid, end - start
        FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName
        WHERE s.value LIKE 'ncclDevKernel_SendRecv%' ORDER BY globalPid, start"""
    with closing(sqlite3.connect(f"file:{ALL_TO_ALL}?mode=ro&immutable=1", uri=True)) as connection:
        durations = connection.execute(query).fetchall()
    first, second = ([length for pid, length in durations if pid == wanted] for wanted in sorted(dict(durations)))

    [row] = result_of(analyze([ALL_TO_ALL], AnalyzeOptions()), Collectives).collectives

    assert row.transfer_ns == sum(map(min, first, second))


def test_two_megatron_ranks_with_bytes_and_groups() -> None:
    run = analyze(MEGATRON, AnalyzeOptions())

    rows = result_of(run, Collectives).collectives
    # 6144 and 512 elements of 4 bytes over group 13, as record_param_comms says
    assert [(row.kind, row.communicator, row.ranks, row.dtype, row.bytes, row.count) for row in rows] == [
        ("all_reduce", "13", (0, 1), "Float", 24_576, 10),
        ("all_reduce", "13", (0, 1), "Float", 2_048, 3),
    ]
    # the first all-reduce lasts 22.879 us on rank 0 and 21.582 ms on rank 1, which waits in all but one
    assert [row.complete_count for row in rows] == [10, 3]
    assert all(row.wait_by_rank_ns is not None and row.wait_by_rank_ns[1] > 2_000_000 for row in rows)
    assert [(report.rank, report.rank_source, report.world_size) for report in run.reports] == [
        (0, "profiler", 2),
        (1, "profiler", 2),
    ]
    [late] = result_of(run, Stragglers).stragglers
    assert (late.rank, late.late_count) == (0, 11)


def test_one_megatron_rank_alone_says_nothing_of_waiting() -> None:
    rows = result_of(analyze(MEGATRON[1:], AnalyzeOptions()), Collectives).collectives

    assert [(row.complete_count, row.transfer_ns, row.wait_ns) for row in rows] == [(0, None, None)] * 2
    assert {row.unresolved for row in rows} == {"1 of its 2 ranks is not given"}
