"""Ranges by name: CPU and GPU time, total and self, and the tree; against brute force where they overlap at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsysan.analysis.ranges import OperatorTimes, RangeKind, RangeNode, Ranges, RangeTimesOfName, compute_ranges
from nsysan.attribution.job import build_job
from nsysan.attribution.window import WindowChoice
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path

LAUNCH = "cudaLaunchKernel_v7000"


def found(folder: Path, export: Export, window: WindowChoice | None = None) -> Ranges:
    job = build_job([read_trace(export.write(folder / "rank0.sqlite"), ReadOptions())], window)
    result = compute_ranges(job, ResultSet({}))
    assert not isinstance(result, Skipped), result
    return result


def times(
    folder: Path, export: Export, window: WindowChoice | None = None
) -> dict[str, tuple[int, int | None, int, int | None]]:
    """CPU total and self, GPU total and self, by name."""
    return {
        row.name: (row.cpu_total_ns, row.cpu_self_ns, row.gpu_total_ns, row.gpu_self_ns)
        for row in found(folder, export, window).ranges
    }


def launched(  # noqa: PLR0913 -- a launch and its place, each by name
    export: Export, call_ns: int, start_ns: int, end_ns: int, *, tid: int = 100, pid: int = 100
) -> Export:
    correlation = export._correlations.get(pid, 0) + 1
    export.call(call_ns, call_ns + 1, LAUNCH, tid=tid, pid=pid, correlation=correlation)
    return export.kernel(start_ns, end_ns, "k", correlation=correlation, pid=pid)


def test_a_range_has_the_gpu_time_it_launched_wherever_that_ran(tmp_path: Path) -> None:
    # C49
    export = launched(Export().nvtx(0, 5, "forward"), 1, 20, 30)

    assert times(tmp_path, export) == {"forward": (5, 5, 10, 10)}


def test_every_ancestor_has_it_and_self_is_the_innermosts(tmp_path: Path) -> None:
    export = Export().nvtx(0, 100, "step").nvtx(10, 60, "layer").nvtx(20, 40, "mm")
    launched(launched(launched(export, 5, 200, 201), 15, 210, 220), 25, 230, 330)

    assert times(tmp_path, export) == {
        "step": (100, 50, 111, 1),
        "layer": (50, 30, 110, 10),
        "mm": (20, 20, 100, 100),
    }


def test_what_another_thread_launches_meanwhile_is_not_the_ranges(tmp_path: Path) -> None:
    export = launched(Export().nvtx(0, 100, "forward").nvtx(0, 100, "other", tid=200), 10, 200, 210, tid=200)

    assert times(tmp_path, export) == {"forward": (100, 100, 0, 0), "other": (100, 100, 10, 10)}


def test_time_in_two_ranges_of_one_name_counts_once(tmp_path: Path) -> None:
    export = launched(Export().nvtx(0, 100, "f").nvtx(10, 60, "f"), 20, 200, 230)

    assert times(tmp_path, export) == {"f": (100, 100, 30, 30)}


def test_nests_of_two_domains_are_apart(tmp_path: Path) -> None:
    export = Export().nvtx_domain(1, "NCCL").nvtx(0, 100, "backward").nvtx(10, 60, "ncclAllReduce", domain=1)
    launched(export, 20, 200, 230)

    result = found(tmp_path, export)

    assert [(row.domain, row.cpu_self_ns, row.gpu_self_ns) for row in result.ranges] == [
        (None, 100, 30),
        ("NCCL", 50, 30),
    ]
    assert result.range_tree == (
        RangeNode(None, "backward", None, 1, 100, 30, 100, 30),
        RangeNode(None, "ncclAllReduce", "NCCL", 1, 50, 30, 50, 30),
    )


def test_one_graph_launch_has_all_its_kernels_and_costs_once(tmp_path: Path) -> None:
    # C53
    export = Export().nvtx(0, 20, "replay").call(1, 19, "cudaGraphLaunch_v10000", correlation=9)
    for start_ns in range(100, 300):
        export.kernel(start_ns, start_ns + 1, "k", correlation=9)

    assert times(tmp_path, export) == {"replay": (20, 20, 200, 200)}


def test_names_share_a_row_whatever_they_number(tmp_path: Path) -> None:
    export = launched(Export(), 1, 100, 110)
    for number, text in enumerate(
        ["step 0", "step 1", "aten::mm, seq = 4, op_id = 5", "aten::mm, op_id = 6, sizes = [[8, 4]]"]
    ):
        export.nvtx(10 * number, 10 * number + 10, text)

    assert {row.name: row.count for row in found(tmp_path, export).ranges} == {"step *": 2, "aten::mm": 2}


def test_ranges_cut_by_the_capture_are_counted_and_cut(tmp_path: Path) -> None:
    # C48, C45: one begun before the session, one still open at its end
    export = launched(Export().nvtx(-50, 30, "before").nvtx(40, None, "open").session(duration_ns=100), 10, 50, 60)

    rows = {row.name: row for row in found(tmp_path, export).ranges}

    assert (rows["before"].cpu_total_ns, rows["before"].begun_before_count, rows["before"].open_count) == (30, 1, 0)
    assert (rows["open"].cpu_total_ns, rows["open"].begun_before_count, rows["open"].open_count) == (60, 0, 1)


def test_a_chosen_window_cuts_both_times(tmp_path: Path) -> None:
    export = launched(Export().nvtx(0, 100, "forward"), 10, 40, 90)

    assert times(tmp_path, export, WindowChoice(50, 70)) == {"forward": (20, 20, 20, 20)}


def test_work_launched_before_a_chosen_window_still_counts_for_its_ranges(tmp_path: Path) -> None:
    # the host is ahead: of the three ranges of one name two ended before the window, and one reaches into it
    export = Export().nvtx(0, 10, "forward").nvtx(20, 30, "forward").nvtx(40, 70, "forward")
    launched(launched(launched(export, 5, 100, 101), 25, 110, 120), 45, 130, 230)

    assert times(tmp_path, export, WindowChoice(60, 500)) == {"forward": (10, 10, 111, 111)}


def test_start_end_ranges_are_intervals_of_the_process_and_never_nest(tmp_path: Path) -> None:
    # C46: a call in one of them is its own, in both it is ambiguous
    export = Export().nvtx(0, 60, "a", event_type=60, tid=100).nvtx(40, 100, "b", event_type=60, tid=200)
    launched(launched(launched(export, 10, 200, 201, tid=300), 50, 210, 220), 90, 230, 330, tid=200)

    assert found(tmp_path, export).ranges == (
        RangeTimesOfName("b", None, RangeKind.START_END, 1, 0, 0, 60, None, 100, None, 10, 0),
        RangeTimesOfName("a", None, RangeKind.START_END, 1, 0, 0, 60, None, 1, None, 10, 0),
    )
    assert found(tmp_path, export).range_tree == ()


def test_starving_is_split_by_the_innermost_range(tmp_path: Path) -> None:
    export = Export().nvtx(0, 900_000, "step").nvtx(300_000, 700_000, "python")
    launched(launched(export, 1_000, 5_000, 100_000), 800_000, 801_001, 900_000)

    assert {row.name: row.launch_starved_ns for row in found(tmp_path, export).ranges} == {
        "step": 200_000 + 100_000,
        "python": 400_000,
    }


def test_equal_paths_are_one_node(tmp_path: Path) -> None:
    export = launched(Export(), 12, 500, 510)
    for start_ns in (0, 100):
        export.nvtx(start_ns, start_ns + 50, f"step {start_ns}").nvtx(start_ns + 10, start_ns + 20, "mm")
    export.nvtx(200, 230, "mm")

    assert found(tmp_path, export).range_tree == (
        RangeNode(None, "step *", None, 2, 100, 10, 80, 0),
        RangeNode(0, "mm", None, 2, 20, 10, 20, 10),
        RangeNode(None, "mm", None, 1, 30, 0, 30, 0),
    )


def test_operators_are_grouped_by_name_and_their_shapes_kept_apart(tmp_path: Path) -> None:
    # as nsys --pytorch and as emit_nvtx write them; the second pair is of one shape
    small, large = "[[8, 4], [4, 2]]", "[[8192, 4096], [4096, 14336]]"
    texts = (
        f"aten::mm, seq = 1, op_id = 7, sizes = {small}",
        f"aten::mm, op_id = 8, sizes = {large}, input_op_ids = [(6,0), (-1,-1)]",
        f"aten::mm, seq = 3, sizes = {large}",
        "aten::mm, seq = 4",
        "aten::add, seq = 5, sizes = []]",
    )
    export = Export()
    for place, text in enumerate(texts):
        export.nvtx(place * 10, place * 10 + 8, text)
        launched(export, place * 10 + 1, 100 + place * 100, 150 + place * 100 + place)

    add, mm = sorted(found(tmp_path, export).ranges, key=lambda row: row.name)

    assert (mm.name, mm.count, mm.gpu_total_ns) == ("aten::mm", 4, 50 + 51 + 52 + 53)
    assert mm.shapes == (OperatorTimes(large, 2, 16, 51 + 52), OperatorTimes(small, 1, 8, 50))
    assert (mm.shape_count, add.shape_count, add.shapes) == (2, 0, ())


def test_a_range_bears_its_categories_and_a_domain_without_name_its_number(tmp_path: Path) -> None:
    export = Export().nvtx_category(3, "data").nvtx_category(3, "model", domain=2).nvtx_domain(1, "loader")
    export.nvtx_range(0, 10, "load", category=3).nvtx_range(20, 30, "load", category=9).nvtx_range(40, 50, "load")
    export.nvtx_range(0, 10, "forward", category=3, domain=2).nvtx_range(0, 10, "fetch", domain=1)
    launched(export, 1, 100, 110)

    assert {row.name: (row.domain, row.categories) for row in found(tmp_path, export).ranges} == {
        "load": (None, ("9", "data")),
        "forward": ("domain 2", ("model",)),
        "fetch": ("loader", ()),
    }


def test_without_ranges_the_question_is_open(tmp_path: Path) -> None:
    job = build_job([read_trace(launched(Export(), 1, 2, 3).write(tmp_path / "rank0.sqlite"), ReadOptions())])

    assert isinstance(compute_ranges(job, ResultSet({})), Skipped)


NAMES = ["a", "b", "c"]
DRAWN_RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40), st.sampled_from(NAMES)), max_size=10)
DRAWN_CALLS = st.lists(st.tuples(st.integers(0, 110), st.integers(1, 9)), min_size=1, max_size=10)


@pytest.mark.usefixtures("mode")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN_RANGES, DRAWN_CALLS)
def test_times_equal_a_look_at_every_range_for_every_call(
    tmp_path: Path, ranges: list[tuple[int, int, str]], calls: list[tuple[int, int]]
) -> None:
    """However ranges overlap: O(n * m), and every moment."""
    export = Export().nvtx(200, 201, "last")
    for start_ns, length_ns, name in ranges:
        export.nvtx(start_ns, start_ns + length_ns, name)
    for place, (call_ns, gpu_ns) in enumerate(calls):
        launched(export, call_ns, 1_000 + 10 * place, 1_000 + 10 * place + gpu_ns)

    rows = times(tmp_path, export)

    def holders(moment: int) -> list[tuple[int, int, str]]:
        return [drawn for drawn in ranges if drawn[0] <= moment < drawn[0] + drawn[1]]

    def innermost(moment: int) -> str | None:
        best = max(holders(moment), key=lambda drawn: (drawn[0], -drawn[1]), default=None)
        return None if best is None else best[2]

    # of ranges that begin and end together any may be the innermost
    twins = {drawn[2] for drawn in ranges if len({other[2] for other in ranges if other[:2] == drawn[:2]}) > 1}
    for name in {drawn[2] for drawn in ranges}:
        total = sum(name in {drawn[2] for drawn in holders(moment)} for moment in range(120))
        gpu_total = sum(gpu_ns for call_ns, gpu_ns in calls if name in {drawn[2] for drawn in holders(call_ns)})
        assert (rows[name][0], rows[name][2]) == (total, gpu_total)
        if name not in twins:
            assert rows[name][1] == sum(innermost(moment) == name for moment in range(120))
            assert rows[name][3] == sum(gpu_ns for call_ns, gpu_ns in calls if innermost(call_ns) == name)
    # self times add up to what lies in any range
    assert sum(row[1] or 0 for row in rows.values()) - 1 == sum(bool(holders(moment)) for moment in range(120))
    assert sum(row[3] or 0 for row in rows.values()) == sum(gpu_ns for call_ns, gpu_ns in calls if holders(call_ns))


@pytest.mark.usefixtures("mode")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN_RANGES, DRAWN_CALLS, st.integers(0, 120), st.integers(1, 60))
def test_a_window_cuts_time_and_work_of_every_range(
    tmp_path: Path, ranges: list[tuple[int, int, str]], calls: list[tuple[int, int]], from_ns: int, length_ns: int
) -> None:
    export, window = Export().nvtx(200, 201, "last"), range(from_ns, from_ns + length_ns)
    for start_ns, duration_ns, name in ranges:
        export.nvtx(start_ns, start_ns + duration_ns, name)
    # the host is 30 ns ahead; one kernel fills the window, so that none is empty
    launched(export, 150, 0, 300)
    for call_ns, gpu_ns in calls:
        launched(export, call_ns, call_ns + 30, call_ns + 30 + gpu_ns)

    rows = times(tmp_path, export, WindowChoice(window.start, window.stop))

    def inside(name: str, moment: int) -> bool:
        return any(name == drawn and start <= moment < start + length for start, length, drawn in ranges)

    for name in {drawn for _, _, drawn in ranges}:
        called = [(call_ns, gpu_ns) for call_ns, gpu_ns in calls if inside(name, call_ns)]
        # no range reaches to the call at 150
        work_ns = sum(
            moment in window for call_ns, gpu_ns in called for moment in range(call_ns + 30, call_ns + 30 + gpu_ns)
        )
        assert (rows[name][0], rows[name][2]) == (sum(inside(name, moment) for moment in window), work_ns)


@pytest.mark.usefixtures("mode")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*NAMES, "pop", "call"]), min_size=1, max_size=24))
def test_self_and_the_paths_below_add_up_to_every_path(tmp_path: Path, program: list[str]) -> None:
    """What a thread does, one thing every 10 ns: push a range, pop one, launch work of 1, 2, 3, ... ns."""
    export, begun = launched(Export().nvtx(990, 1_000, "last"), 995, 2_000, 2_007), list[tuple[int, str]]()
    for place, does in enumerate([*program, *["pop"] * len(program)]):
        if does == "call":
            launched(export, 10 * place + 5, 3_000 + 100 * place, 3_001 + 101 * place)
        elif does != "pop":
            begun.append((10 * place, does))
        elif begun:
            start_ns, name = begun.pop()
            export.nvtx(start_ns, 10 * place, name)

    tree = found(tmp_path, export).range_tree

    for place, node in enumerate(tree):
        below = [child for child in tree if child.parent == place]
        assert node.cpu_total_ns == (node.cpu_self_ns or 0) + sum(child.cpu_total_ns for child in below)
        assert node.gpu_total_ns == (node.gpu_self_ns or 0) + sum(child.gpu_total_ns for child in below)
