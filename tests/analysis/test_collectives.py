"""Collectives over ranks: waiting, transfer and bandwidth of hand-written reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.ceilings import HeldAgainst
from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.hardware.answers import Level
from nsysan.model.ceilings import Mode
from nsysan.model.errors import UsageError
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from tests.analysis.nccl_traces import (
    ALL_GATHER,
    ALL_REDUCE,
    COMMUNICATOR,
    MS,
    REDUCE_SCATTER,
    SEND_RECV,
    job,
    launched,
)
from tests.hardware.ceilings import ceilings, curve
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.ceilings import CollectiveCurve
    from nsysan.model.run import Run

PIDS = (100, 101, 102, 103)
BROADCAST = "ncclDevKernel_Broadcast_RING_LL(ncclDevComm*)"
CUSTOM = "void sglang::cross_device_reduce_2stage<__nv_bfloat16, 4>(RankData*)"


def collectives(folder: Path, *exports: Export, options: AnalyzeOptions | None = None) -> Collectives:
    return result_of(analyze_exports(folder, *exports, options=options), Collectives)


def one_late(name: str) -> Export:
    # C15: 4 ranks, begins 0, 0, 0, 30 ms, all end at 33 ms
    export = Export()
    for pid, start_ms in zip(PIDS, (0, 0, 0, 30), strict=True):
        export.kernel(start_ms * MS, 33 * MS, name, pid=pid)
    return export


@pytest.mark.parametrize(("name", "backend"), [(ALL_REDUCE, "nccl"), (CUSTOM, "custom")])
def test_long_kernels_are_waiting_for_a_late_rank(tmp_path: Path, name: str, backend: str) -> None:
    # C15, C32: a custom all-reduce spins like NCCL's
    [row] = collectives(tmp_path, one_late(name)).collectives

    assert row == CollectiveRow(
        kind="all_reduce",
        backend=backend,
        communicator=None,
        purpose=None,
        purpose_confidence=None,
        ranks=(0, 1, 2, 3),
        nodes=None,
        dtype=None,
        stage=None,
        count=1,
        complete_count=1,
        bytes=None,
        duration_ns=102 * MS,
        exposed_ns=102 * MS,
        transfer_ns=3 * MS,
        wait_ns=90 * MS,
        wait_by_rank_ns=(30 * MS, 30 * MS, 30 * MS, 0),
        algbw_bytes_per_s=None,
        busbw_bytes_per_s=None,
        contended_frac=0.0,
        ceiling_bytes_per_s=None,
        ceiling_source=None,
        unresolved=None,
    )


def test_bandwidth_is_of_the_transfer(tmp_path: Path) -> None:
    # C15: 300 MB in 3 ms are 100 GB/s, times 2 * 3/4 for the bus; over the 33 ms of rank 0 it would be 13.6 GB/s
    export = job(*PIDS)
    for pid, start_ms in zip(PIDS, (10, 10, 10, 40), strict=True):
        payload = Payload(PayloadSchema.ALL_REDUCE, (COMMUNICATOR, 300_000_000, 0))
        launched(export, pid, 5 * MS, (start_ms * MS, 43 * MS), ALL_REDUCE, {"ncclAllReduce": payload})

    [row] = collectives(tmp_path, export).collectives

    assert (row.bytes, row.algbw_bytes_per_s, row.busbw_bytes_per_s) == (300_000_000, 1e11, 1.5e11)
    assert row.communicator == "0xd1373f8c6ac1ba54"


def test_the_size_in_an_all_gathers_payload_is_one_ranks_part(tmp_path: Path) -> None:
    # C27, T12: 64 MiB a rank over 8 ranks in 2 ms: 512 MiB / 2 ms * 7/8 = 234.9 GB/s
    export = job(*range(100, 108))
    for pid in range(100, 108):
        payload = Payload(PayloadSchema.ALL_GATHER, (COMMUNICATOR, 64 << 20))
        launched(export, pid, 5 * MS, (10 * MS, 12 * MS), ALL_GATHER, {"ncclAllGather": payload})

    [row] = collectives(tmp_path, export).collectives

    assert row.bytes == 512 << 20
    assert row.busbw_bytes_per_s == pytest.approx(234.9e9, rel=1e-3)


def test_a_group_of_several_kinds_is_called_so_and_has_no_bandwidth(tmp_path: Path) -> None:
    # C25: the kernel's name names only the first of the group
    export = job(100, 101)
    for pid in (100, 101):
        calls = {
            "ncclAllGather": Payload(PayloadSchema.ALL_GATHER, (COMMUNICATOR, 4096)),
            "ncclReduceScatter": Payload(PayloadSchema.REDUCE_SCATTER, (COMMUNICATOR, 4096, 0)),
        }
        launched(export, pid, 5 * MS, ((pid - 90) * MS, 12 * MS), ALL_GATHER, calls)

    [row] = collectives(tmp_path, export).collectives

    assert (row.kind, row.transfer_ns, row.wait_ns) == ("group(all_gather, reduce_scatter)", 1 * MS, 1 * MS)
    assert row.busbw_bytes_per_s is None


def test_messages_in_one_kernel_belong_to_the_end_of_their_group(tmp_path: Path) -> None:
    # C26: two sends and two receives a kernel, whose launch lies in none of their ranges
    export = job(100, 101)
    for rank, pid in enumerate((100, 101)):
        calls = {
            f"{call}#{peer}": Payload(schema, (COMMUNICATOR, 1_000 * (1 + peer), peer))
            for peer in (0, 1)
            for call, schema in (("ncclSend", PayloadSchema.SEND), ("ncclRecv", PayloadSchema.RECV))
        }
        launched(export, pid, 5 * MS, ((10 + 4 * rank) * MS, 15 * MS), SEND_RECV, calls)

    [row] = collectives(tmp_path, export).collectives

    # each rank sends 1,000 and 2,000 bytes, one of them to itself
    assert (row.kind, row.ranks, row.count, row.bytes) == ("send_recv", (0, 1), 1, 3_000)
    assert (row.transfer_ns, row.wait_by_rank_ns) == (1 * MS, (4 * MS, 0))


def test_collectives_of_two_communicators_on_one_stream(tmp_path: Path) -> None:
    """By order alone the second all-reduce of rank 0 would meet the first of rank 1."""
    export = job(100, 101, communicator=None)
    both, alone = 7, 8
    # rank, communicator, begin and end in ms
    for pid, communicator, start_ms, end_ms in (
        (100, both, 10, 20),
        (100, alone, 30, 31),
        (100, both, 40, 50),
        (101, both, 18, 20),
        (101, both, 45, 50),
    ):
        payload = Payload(PayloadSchema.ALL_REDUCE, (communicator, 1_000, 0))
        launched(export, pid, (start_ms - 5) * MS, (start_ms * MS, end_ms * MS), ALL_REDUCE, {"ncclAllReduce": payload})

    rows = {row.communicator: row for row in collectives(tmp_path, export).collectives}

    assert rows["0x0000000000000007"].wait_by_rank_ns == (8 * MS + 5 * MS, 0)
    assert rows["0x0000000000000007"].transfer_ns == 2 * MS + 5 * MS
    assert rows["0x0000000000000008"].unresolved == "no other rank of it is given"


def test_a_rank_alone_is_not_called_transfer(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 33 * MS, ALL_REDUCE))

    [row] = result_of(run, Collectives).collectives
    assert [(report.rank, report.rank_source) for report in run.reports] == [(None, None)]
    assert (row.complete_count, row.transfer_ns, row.wait_ns) == (0, None, None)
    assert row.unresolved == "no other rank of it is given"
    baseline = result_of(run, Baseline).baseline
    assert baseline.communication_wait_frac is None
    assert "one rank alone" in baseline.unknown["communication_wait_frac"]


def test_ranks_that_are_not_given_limit_what_is_said(tmp_path: Path) -> None:
    # C74: 2 of 64 ranks
    exports = [one_rank(rank).environment("WORLD_SIZE", "64") for rank in (0, 1)]

    run = analyze_exports(tmp_path, *exports)

    found = result_of(run, Collectives)
    assert (found.world_size, [rank.rank for rank in found.ranks]) == (64, [0, 1])
    assert [(row.complete_count, row.transfer_ns, row.wait_ns) for row in found.collectives] == [(0, None, None)]
    assert {note.id for note in run.notes} >= {"ranks_missing"}
    assert "2 of 64" in result_of(run, Baseline).baseline.unknown["communication_wait_frac"]


def one_rank(rank: int) -> Export:
    export = Export().environment("RANK", str(rank)).session(utc_epoch_ns=10**18 + rank)
    return export.kernel(10 * MS, 33 * MS, ALL_REDUCE, pid=100 + rank).kernel(40 * MS, 41 * MS, "gemm", pid=100 + rank)


def test_without_common_collectives_nothing_is_said_of_clocks(tmp_path: Path) -> None:
    # C22: two files without session start and with nothing in common
    first, second = Export().kernel(0, 9 * MS, ALL_REDUCE), Export().kernel(0, 9 * MS, REDUCE_SCATTER, pid=200)
    for export in (first, second):
        export.sql("DELETE FROM TARGET_INFO_SESSION_START_TIME")

    run = analyze_exports(tmp_path, first, second)

    assert [(report.clock_offset_ns, report.clock_residual_ns) for report in run.reports] == [(0, None), (None, None)]
    assert {row.unresolved for row in result_of(run, Collectives).collectives} == {
        "no other rank's operations end together with its own"
    }


def test_ends_of_common_collectives_put_reports_on_one_clock(tmp_path: Path) -> None:
    """Ends at 20, 47, 90 ms of one clock and 7 ms later on the other, up to 2, 0 and 4 us."""
    first, second = Export(), Export().session(utc_epoch_ns=1_700_000_000_000_000_000 + 3 * MS)
    for end_ms, jitter_ns in ((20, 2_000), (47, 0), (90, 4_000)):
        first.kernel((end_ms - 5) * MS, end_ms * MS, ALL_REDUCE)
        second.kernel((end_ms + 6) * MS, (end_ms + 7) * MS + jitter_ns, ALL_REDUCE, pid=200)

    run = analyze_exports(tmp_path, first, second)

    # the median difference is 7.002 ms, and each end is half of what is left from the middle of both: 0, 1 and 1 us
    assert [(report.clock_offset_ns, report.clock_residual_ns) for report in run.reports] == [
        (0, 1_000),
        (-7_002_000, 1_000),
    ]


def test_a_clock_that_drifts_over_a_long_capture_follows_a_line(tmp_path: Path) -> None:
    """Rank 1 reads 7 ms more at first and 20 us more each second, which are 12 ms over ten minutes."""
    first, second = Export(), Export()
    for place in range(100):
        end_ns = place * 6_000 * MS + 50 * MS
        first.kernel(end_ns - (5 + place % 3) * MS, end_ns, ALL_REDUCE)
        read_ns = end_ns + 7 * MS + end_ns // 50_000
        second.kernel(read_ns - 1 * MS, read_ns, ALL_REDUCE, pid=200)

    run = analyze_exports(tmp_path, first, second)

    own, other = run.reports
    assert (own.clock_offset_ns, own.clock_drift_frac, own.clock_residual_ns) == (0, 0.0, 0)
    assert other.clock_offset_ns == pytest.approx(-7 * MS, abs=1_000)
    assert other.clock_residual_ns == 0
    assert other.clock_drift_frac == pytest.approx(-2e-5, rel=1e-4)
    [row] = result_of(run, Collectives).collectives
    # 100 waits of 4, 5 and 6 ms in turn
    assert (row.complete_count, row.transfer_ns, row.wait_by_rank_ns) == (100, 100 * MS, ((34 * 4 + 33 * 11) * MS, 0))


def test_a_record_that_began_before_the_session_keeps_its_length(tmp_path: Path) -> None:
    export = Export().kernel(-5 * MS, 10 * MS, ALL_REDUCE).kernel(7 * MS, 10 * MS, ALL_REDUCE, pid=101)

    [row] = collectives(tmp_path, export).collectives

    assert (row.transfer_ns, row.wait_by_rank_ns) == (3 * MS, (12 * MS, 0))


def test_eight_files_that_all_say_device_0_are_eight_ranks(tmp_path: Path) -> None:
    # C70: in natural order of the names, and labelled so
    exports = [Export().kernel(10, 20 + rank, ALL_REDUCE, pid=7) for rank in range(11)]

    run = analyze_exports(tmp_path, *exports)

    assert [(report.name, report.rank) for report in run.reports[9:]] == [("rank9.sqlite", 9), ("rank10.sqlite", 10)]
    assert {report.rank_source for report in run.reports} == {"file_name"}
    assert "ranks_by_order" in {note.id for note in run.notes}


def test_the_users_ranks_count_first(tmp_path: Path) -> None:
    exports = [replace_environment(rank) for rank in (0, 1)]
    options = AnalyzeOptions(ranks=RankChoice({"rank0.sqlite": 5, "rank1.sqlite": 2}, world_size=8))

    run = analyze_exports(tmp_path, *exports, options=options)

    assert [(report.rank, report.rank_source, report.world_size) for report in run.reports] == [
        (5, "user", 8),
        (2, "user", 8),
    ]
    [row] = result_of(run, Collectives).collectives
    assert row.ranks == (2, 5)


def test_of_two_reports_of_one_rank_nothing_is_said_of_waits(tmp_path: Path) -> None:
    # the third is of another run, whose rank 0 it was
    other = Export().environment("RANK", "0").kernel(10, 25, ALL_REDUCE, pid=7)
    exports = [replace_environment(0), replace_environment(1), other]

    run = analyze_exports(tmp_path, *exports)

    [note] = [note for note in run.notes if note.id.startswith("rank")]
    assert note.id == "ranks_contested"
    assert note.sentence.startswith("rank0.sqlite and rank2.sqlite both say that they are rank 0 (environment)")
    assert [row.wait_ns for row in result_of(run, Collectives).collectives] == [None]
    # who knows better says so, and is believed
    choice = RankChoice({"rank0.sqlite": 0, "rank1.sqlite": 1, "rank2.sqlite": 2})
    told = analyze_exports(tmp_path, *exports, options=AnalyzeOptions(ranks=choice))
    assert [row.ranks for row in result_of(told, Collectives).collectives] == [(0, 1, 2)]
    assert "ranks_contested" not in {note.id for note in told.notes}


def test_mpi_that_gives_one_rank_to_two_processes_is_not_believed(tmp_path: Path) -> None:
    export = Export()
    for pid in (100, 101):
        export.kernel(10, 30, ALL_REDUCE, pid=pid).mpi_rank(0, pid=pid)

    run = analyze_exports(tmp_path, export)

    assert {report.rank_source for report in run.reports} == {"device_order"}
    [note] = [note for note in run.notes if note.id == "ranks_contested"]
    assert note.sentence.startswith("In rank0.sqlite several processes say that they are rank 0 (mpi)")


def test_reports_that_tell_their_ranks_in_different_ways_tell_them_together(tmp_path: Path) -> None:
    by_mpi = Export().kernel(10, 30, ALL_REDUCE, pid=7).mpi_rank(0, pid=7)

    run = analyze_exports(tmp_path, replace_environment(1), by_mpi)

    assert [(report.rank, report.rank_source) for report in run.reports] == [(1, "environment"), (0, "environment")]
    assert "ranks_by_order" not in {note.id for note in run.notes}


def replace_environment(rank: int) -> Export:
    return Export().environment("RANK", str(rank)).kernel(10, 20 + rank, ALL_REDUCE, pid=100 + rank)


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (RankChoice({"rank0.sqlite": 0}), "--ranks gives no rank to rank1.sqlite"),
        (RankChoice({"rank0.sqlite": 0, "rank1.sqlite": 0}), "--ranks gives rank 0 twice"),
        (RankChoice({"rank0.sqlite": 0, "rank1.sqlite": 1, "x": 2}), "--ranks names 'x', which is not given"),
        (RankChoice(world_size=1), "--world-size says 1, and 2 ranks are given"),
    ],
)
def test_ranks_that_cannot_be_are_refused(tmp_path: Path, choice: RankChoice, sentence: str) -> None:
    exports = [replace_environment(rank) for rank in (0, 1)]

    with pytest.raises(UsageError, match=sentence):
        analyze_exports(tmp_path, *exports, options=AnalyzeOptions(ranks=choice))


def test_a_collective_beside_computing_is_contended(tmp_path: Path) -> None:
    export = one_late(ALL_REDUCE)
    for pid in PIDS[:2]:
        export.kernel(30 * MS, 33 * MS, "gemm", pid=pid, stream=7)

    [row] = collectives(tmp_path, export).collectives

    # on two of four ranks all of the transfer runs beside a matrix product
    assert row.contended_frac == 0.5
    assert row.exposed_ns == 102 * MS - 2 * 3 * MS


@pytest.mark.parametrize(
    ("computing_ms", "contended_frac"),
    [
        # the root sends from 10 to 40 ms, rank 1 takes part from 30 to 45: they carry for 30 and 15 ms
        ({}, 0.0),
        ({1: (12, 30)}, 0.0),  # of what rank 1 computes before it begins nothing counts
        ({1: (12, 36)}, 6 / 45),
        ({0: (20, 29), 1: (30, 36)}, 15 / 45),
        ({0: (0, 50), 1: (0, 50)}, 1.0),
    ],
)
def test_what_a_rank_computes_before_it_takes_part_in_a_broadcast_does_not_contend(
    tmp_path: Path, computing_ms: dict[int, tuple[int, int]], contended_frac: float
) -> None:
    export = job(*PIDS[:2])
    payload = Payload(PayloadSchema.BROADCAST, (COMMUNICATOR, 64 << 20, 0))
    for pid, (start_ms, end_ms) in zip(PIDS, ((10, 40), (30, 45)), strict=False):
        launched(export, pid, 5 * MS, (start_ms * MS, end_ms * MS), BROADCAST, {"ncclBroadcast": payload})
    for rank, (start_ms, end_ms) in computing_ms.items():
        export.kernel(start_ms * MS, end_ms * MS, "gemm", pid=PIDS[rank], stream=7)

    [row] = collectives(tmp_path, export).collectives

    assert (row.transfer_ns, row.wait_ns) == (30 * MS, 0)
    assert row.contended_frac == pytest.approx(contended_frac)


def test_what_a_rank_computes_while_it_waits_for_the_root_does_not_contend(tmp_path: Path) -> None:
    export = job(*PIDS[:2])
    payload = Payload(PayloadSchema.BROADCAST, (COMMUNICATOR, 64 << 20, 0))
    # rank 1 waits for the root until 20 ms, then carries until 35, as the root does until 40
    for pid, (start_ms, end_ms) in zip(PIDS, ((20, 40), (6, 35)), strict=False):
        launched(export, pid, 5 * MS, (start_ms * MS, end_ms * MS), BROADCAST, {"ncclBroadcast": payload})
    export.kernel(6 * MS, 27 * MS, "gemm", pid=PIDS[1], stream=7)

    [row] = collectives(tmp_path, export).collectives

    assert (row.transfer_ns, row.wait_ns) == (20 * MS, 14 * MS)
    assert row.contended_frac == 7 / (20 + 15)


def test_waits_of_the_window_alone_count_for_the_baseline(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, one_late(ALL_REDUCE))

    # three ranks wait 30 of 33 ms, the window of the last is 3 ms
    assert result_of(run, Baseline).baseline.communication_wait_frac == pytest.approx((3 * 30 / 33 + 0) / 4)


def test_a_job_without_communication_has_none(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 9, "gemm").kernel(0, 9, "gemm", pid=200))

    found = result_of(run, Collectives)
    assert (found.collectives, [rank.exposed_wait_ns for rank in found.ranks]) == ((), [0, 0])
    assert result_of(run, Baseline).baseline.communication_wait_frac == 0.0


def test_the_protocol_in_a_kernels_name_is_not_repeated(tmp_path: Path) -> None:
    # C24: the suffix is that of a dispatcher, whatever protocol ran
    [row] = collectives(tmp_path, one_late(ALL_REDUCE)).collectives

    assert "LL" not in str(replace(row, backend=None))
    assert row.dtype is None


@pytest.mark.parametrize(
    ("curves", "known", "too_low"),
    [
        # a quarter of it in 4 ms
        ((curve({300_000_000: 4_000}, ranks=4),), (112.5e9, Level.EXACT), ("all_reduce of 4 ranks, 300000000 bytes",)),
        ((curve({300_000_000: 1_000}, ranks=4),), (450e9, Level.EXACT), ()),
        # 80 % of the 450 GB/s of a data sheet's NVLink bound nothing
        ((), (360e9, Level.DATA_SHEET), ()),
    ],
)
def test_only_what_was_measured_is_shown_too_low(
    tmp_path: Path, curves: tuple[CollectiveCurve, ...], known: tuple[float, Level], too_low: tuple[str, ...]
) -> None:
    run = against_curves(tmp_path, curves)

    [row] = result_of(run, Collectives).collectives
    assert (row.ceiling_bytes_per_s, row.ceiling_level) == known
    assert result_of(run, HeldAgainst).ceilings_too_low == too_low


@pytest.mark.parametrize(
    ("changed", "measured"),
    [
        ({"mode": Mode.ONE_PROCESS}, "4 ranks on 1 node, all of one process"),
        ({"node_count": 2}, "4 ranks on 2 nodes, each of its own process"),
    ],
)
def test_curves_of_ranks_that_lie_otherwise_are_left_out_and_it_is_said(
    tmp_path: Path, changed: dict[str, Any], measured: str
) -> None:
    run = against_curves(tmp_path, (replace(curve({300_000_000: 4_000}, ranks=4), **changed),))

    assert result_of(run, Collectives).collectives[0].ceiling_level is Level.DATA_SHEET
    (gpus,) = result_of(run, HeldAgainst).ceilings.gpus
    assert gpus.warnings[-1] == (
        "The curves of collectives are not used for 4 ranks on 1 node, each of its own process: "
        f"measured were {measured}."
    )


def against_curves(folder: Path, curves: tuple[CollectiveCurve, ...]) -> Run:
    """An all-reduce of 300 MB in 1 ms among four: 300 GB/s, times 2 * 3/4 for the bus 450 GB/s."""
    export = job(*PIDS)
    for rank, pid in enumerate(PIDS):
        export.host("node").gpu(rank)
        payload = Payload(PayloadSchema.ALL_REDUCE, (COMMUNICATOR, 300_000_000, 0))
        launched(export, pid, 5 * MS, (10 * MS, 11 * MS), ALL_REDUCE, {"ncclAllReduce": payload})
    return analyze_exports(folder, export, options=AnalyzeOptions(ceilings=ceilings(collectives=curves)))
