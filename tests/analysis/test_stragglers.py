"""Who is waited for: the same rank or in turn, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.stragglers import Pattern, Straggler, Stragglers
from nsysan.model.lateness import Lateness
from nsysan.model.results import Skipped
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export, KernelShape
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from tests.analysis.nccl_traces import ALL_REDUCE, MS
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RANKS = range(4)


def stragglers(folder: Path, *exports: Export) -> tuple[Straggler, ...]:
    return result_of(analyze_exports(folder, *exports), Stragglers).stragglers


def steps_of_100_ms(late_ranks: Sequence[int], compute_ms: int = 60) -> Export:
    """In each step the late rank computes 30 ms longer, so that the all-reduce of 10 ms ends at 100 ms for all."""
    export = Export()
    for step, late in enumerate(late_ranks):
        for rank in RANKS:
            begin_ms, end_ms = 100 * step, 100 * step + compute_ms + 30 * (rank == late)
            export.kernel(begin_ms * MS, end_ms * MS, "gemm", pid=100 + rank)
            export.kernel(end_ms * MS, (begin_ms + 100) * MS, ALL_REDUCE, pid=100 + rank, stream=9)
    return export


def test_equal_steps_do_not_hide_the_rank_that_computes_longer(tmp_path: Path) -> None:
    # C18: compute 60, 60, 60, 90 ms; waits 30, 30, 30, 0
    assert stragglers(tmp_path, steps_of_100_ms([3] * 12)) == (
        Straggler(
            rank=3,
            device="r0/p103/d0",
            late_count=12,
            instance_count=12,
            late_frac=1.0,
            pattern=Pattern.PERSISTENT,
            late_ns=30.0 * MS,
            caused_ns=12 * 3 * 30 * MS,
            why=WhyLate(Lateness.SLOW_COMPUTE, 12 * 30.0 * MS, None),
        ),
    )


def test_ranks_that_take_turns_are_no_bad_nodes(tmp_path: Path) -> None:
    # C17: the late rank is the step modulo 4
    found = stragglers(tmp_path, steps_of_100_ms([step % 4 for step in range(12)]))

    assert {one.rank: (one.late_frac, one.pattern) for one in found} == dict.fromkeys(RANKS, (0.25, Pattern.ROTATING))
    assert {one.caused_ns for one in found} == {3 * 3 * 30 * MS}


def test_who_comes_last_by_a_little_most_often_takes_no_blame_from_who_is_waited_for(tmp_path: Path) -> None:
    # 6 all-reduces to which rank 3 is 30 ms late, 24 to which another is 30 us late
    export, now_ns = Export(), 0
    for late, late_ns in [(3, 30 * MS)] * 6 + [(place % 3, 30_000) for place in range(24)]:
        for rank in RANKS:
            begin_ns = now_ns + 10 * MS + late_ns * (rank == late)
            export.kernel(now_ns, begin_ns, "gemm", pid=100 + rank)
            export.kernel(begin_ns, now_ns + 50 * MS, ALL_REDUCE, pid=100 + rank, stream=9)
        now_ns += 50 * MS

    found = {one.rank: (one.late_count, one.pattern) for one in stragglers(tmp_path, export)}

    assert found == {3: (6, Pattern.PERSISTENT)} | dict.fromkeys(range(3), (8, Pattern.ROTATING))


def test_two_that_come_last_together_each_time_are_persistent(tmp_path: Path) -> None:
    export = Export()
    for begin_ns in range(0, 12 * 100 * MS, 100 * MS):
        for rank in RANKS:
            end_ns = begin_ns + 60 * MS + 30 * MS * (rank in {2, 3})
            export.kernel(begin_ns, end_ns, "gemm", pid=100 + rank)
            export.kernel(end_ns, begin_ns + 100 * MS, ALL_REDUCE, pid=100 + rank, stream=9)

    found = {one.rank: (one.late_frac, one.pattern) for one in stragglers(tmp_path, export)}

    assert found == dict.fromkeys((2, 3), (1.0, Pattern.PERSISTENT))


def test_a_longer_window_that_began_earlier_is_not_late(tmp_path: Path) -> None:
    # C21: rank 1 starts 10 ms before, both end together and neither waits
    export = Export().kernel(10 * MS, 110 * MS, ALL_REDUCE).kernel(10 * MS, 110 * MS, ALL_REDUCE, pid=101)
    export.kernel(0, 9 * MS, "gemm", pid=101)

    assert stragglers(tmp_path, export) == ()


def test_two_that_come_together_share_what_the_others_wait(tmp_path: Path) -> None:
    export = Export()
    for pid, start_us in ((100, 0), (101, 30_000), (102, 30_015)):
        export.kernel(start_us * 1_000, 33 * MS, ALL_REDUCE, pid=pid)

    # rank 0 waits 30.015 ms, rank 1 0.015 ms, which is no lateness that ends tell
    assert [(one.rank, one.late_ns, one.caused_ns) for one in stragglers(tmp_path, export)] == [
        (1, 30_015_000.0, 15_007_500),
        (2, 30_015_000.0, 15_007_500),
    ]


@pytest.mark.parametrize(
    ("scenario", "cause"),
    [
        ("straggler_compute", "clock_throttle"),
        ("straggler_loader", "data_loading"),
        ("moe_skew", "more_work"),
    ],
)
@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_the_cause_is_that_of_the_simulated_job(tmp_path: Path, scenario: str, cause: str, schema: str) -> None:
    [asked] = [found for found in all_scenarios() if found.name == scenario]
    generated = generate(
        Request(scenario=asked, rank_count=4, step_count=4, schema=schema, includes_blobs=schema == "3.25")
    )
    run = analyze([export.write(tmp_path / name) for name, export in generated.exports.items()], AnalyzeOptions())

    first = result_of(run, Stragglers).stragglers[0]
    assert (first.rank, first.pattern, first.why and first.why.cause) == (1, Pattern.PERSISTENT, cause)


def test_all_compute_kernels_by_one_ratio_are_a_slow_clock(tmp_path: Path) -> None:
    # C94: rank 1's kernels take 1.35 times as long
    export = Export()
    for rank, ratio in enumerate((100, 135, 100)):
        begin_ns = 0
        for place in range(12):
            length_ns = (place % 4 + 1) * 100_000 * ratio // 100
            name = ("gemm", "add", "norm", "gelu")[place % 4]
            export.kernel(begin_ns, begin_ns + length_ns, name, pid=100 + rank)
            begin_ns += length_ns
        export.kernel(begin_ns, 6 * MS, ALL_REDUCE, pid=100 + rank, stream=9)

    [found] = stragglers(tmp_path, export)

    # 3 ms of kernels take 1.05 ms longer
    assert (found.rank, found.why) == (1, WhyLate(Lateness.CLOCK_THROTTLE, 1_050_000.0, 1.35))


@pytest.mark.parametrize(("blocks", "cause"), [(135, Lateness.MORE_WORK), (100, Lateness.CLOCK_THROTTLE)])
def test_kernels_of_a_larger_grid_take_longer_on_any_clock(tmp_path: Path, blocks: int, cause: Lateness) -> None:
    # rank 1's kernels take 1.35 times as long, with as many times the blocks or the same; four short ones are equal
    export = Export()
    for rank, (ratio, count) in enumerate(((100, 100), (135, blocks), (100, 100))):
        begin_ns = 0
        for place in range(12):
            name = ("gemm", "add", "norm", "gelu")[place % 4]
            for length_ns, grid in (((place % 4 + 1) * 1_000 * ratio, count), (1_000, 7)):
                shape = KernelShape(grid=(grid, 1, 1))
                export.kernel(begin_ns, begin_ns + length_ns, name, pid=100 + rank, shape=shape)
                begin_ns += length_ns
        export.kernel(begin_ns, 6 * MS, ALL_REDUCE, pid=100 + rank, stream=9)

    [found] = stragglers(tmp_path, export)

    assert found.rank == 1
    assert found.why is not None
    # 12 kernels of 0.1 to 0.4 ms are 3 ms, and take 1.05 ms longer
    assert (found.why.cause, found.why.excess_ns) == (cause, 1_050_000.0)


def test_where_no_collective_is_complete_nobody_is_blamed(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 9, ALL_REDUCE))

    skipped = run.results.get(Stragglers)
    assert isinstance(skipped, Skipped)
    assert skipped.recapture == "Give the reports of all ranks."


def test_what_is_waited_for_late_ranks_is_a_figure_by_why_they_are_late(tmp_path: Path) -> None:
    # rank 3 is late to 12 collectives, and three others wait 30 ms for it in each
    found = Stragglers(stragglers(tmp_path, steps_of_100_ms([3] * 12)))

    [figure] = found.figures()

    assert (figure.id, figure.value, figure.better.value) == ("late_ranks.slow_compute", 90.0 * MS, "less")
    assert list(Stragglers(()).figures()) == []
