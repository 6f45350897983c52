"""The sweep against a nanosecond-by-nanosecond count, and the partition's set expressions against sets."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.partition import Activity, PartTimes
from nsysan.timeline import occupancy as sweeping
from nsysan.timeline import state_changes
from nsysan.timeline.intervals import union
from nsysan.timeline.occupancy import states_with, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

C, N, F, G, M = Activity.COMPUTE, Activity.COMMUNICATION, Activity.FUSED, Activity.GRAPH, Activity.COPY

Piece = tuple[int, int, Activity]


@pytest.fixture(autouse=True, scope="module", params=["columns", "loop", "machine code"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test goes the ways of few and of many activities; the loop also as it is written."""
    if request.param == "machine code":
        pytest.importorskip("numba", reason="numba is not installed")
    with pytest.MonkeyPatch.context() as patched:
        if request.param != "columns":
            patched.setattr(sweeping, "is_worth_compiling", lambda _row_count: True)
        if request.param == "loop":
            patched.setattr(state_changes, "compiled", lambda loop: loop)
        yield


pieces = st.lists(st.tuples(st.integers(-5, 45), st.integers(0, 20), st.sampled_from(list(Activity))), max_size=25)
windows = st.tuples(st.integers(-8, 50), st.integers(0, 40)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def _arrays(activities: list[Piece]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts, ends, kinds = zip(*activities, strict=True) if activities else ((), (), ())
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64), np.array(kinds, dtype=np.uint8)


def _part_times(activities: list[Piece], window_ns: tuple[int, int]) -> PartTimes:
    return sweep(*_arrays(activities), window_ns).part_times()


def _moments(activities: list[Piece], kind: Activity, window_ns: tuple[int, int]) -> set[int]:
    """Every nanosecond of the window in which the kind runs."""
    inside = range(*window_ns)
    return {moment for start, end, of in activities if of is kind for moment in range(start, end) if moment in inside}


@pytest.mark.usefixtures("mode")
@given(pieces, windows)
def test_parts_equal_the_set_expressions_on_every_nanosecond(drawn: list[Piece], window_ns: tuple[int, int]) -> None:
    activities = sorted((start, start + length, kind) for start, length, kind in drawn)
    c, n, f, g, m = (_moments(activities, kind, window_ns) for kind in Activity)
    everything = set(range(*window_ns))

    assert _part_times(activities, window_ns) == PartTimes(
        compute_only_ns=len(c - (n | f)),
        overlapped_ns=len(c & (n | f)),
        fused_ns=len(f - c),
        opaque_graph_ns=len(g - (c | f)),
        exposed_communication_ns=len(n - (c | f | g)),
        exposed_copy_ns=len(m - (c | f | g | n)),
        idle_ns=len(everything - (c | n | f | g | m)),
    )


@pytest.mark.usefixtures("mode")
@given(pieces, windows)
def test_gaps_equal_the_runs_of_idle_nanoseconds(drawn: list[Piece], window_ns: tuple[int, int]) -> None:
    activities = sorted((start, start + length, kind) for start, length, kind in drawn)
    busy = {moment for kind in Activity for moment in _moments(activities, kind, window_ns)}
    runs = [list(run) for idle, run in groupby(range(*window_ns), key=lambda moment: moment not in busy) if idle]

    gaps = sweep(*_arrays(activities), window_ns).idle()

    found = list(zip(gaps.start_ns.tolist(), gaps.end_ns.tolist(), strict=True))
    assert found == [(run[0], run[-1] + 1) for run in runs]


@pytest.mark.usefixtures("mode")
@given(pieces, windows)
def test_neighbouring_states_differ_and_fill_the_window(drawn: list[Piece], window_ns: tuple[int, int]) -> None:
    occupancy = sweep(*_arrays(sorted((start, start + length, kind) for start, length, kind in drawn)), window_ns)

    assert (occupancy.bounds_ns[0], occupancy.bounds_ns[-1]) == window_ns
    assert (np.diff(occupancy.bounds_ns) > 0).all()
    assert (np.diff(occupancy.states.astype(int)) != 0).all()


@given(pieces)
def test_union_covers_what_any_interval_covers(drawn: list[Piece]) -> None:
    covered = {moment for start, length, _ in drawn for moment in range(start, start + length)}
    starts, ends, _ = _arrays([(start, start + length, kind) for start, length, kind in drawn])

    united = union(starts, ends)

    spans = list(zip(united.start_ns.tolist(), united.end_ns.tolist(), strict=True))
    assert {moment for start, end in spans for moment in range(start, end)} == covered
    assert all(end < start for (_, end), (start, _) in pairwise(spans))
    assert united.total_ns == len(covered)


def test_order_of_the_records_changes_nothing() -> None:
    activities = [(0, 10, C), (4, 12, C), (11, 30, N), (25, 40, F), (35, 50, G), (45, 60, M)]

    assert _part_times(activities, (0, 70)) == _part_times(activities[::-1], (0, 70))


@pytest.mark.parametrize(
    ("activities", "expected"),
    [
        # C01: two streams that overlap are busy once, not twice
        ([(0, 10, C), (4, 12, C)], PartTimes(12, 0, 0, 0, 0, 0, 88)),
        # C04: compute 0-60, communication 50-80
        ([(0, 40, C), (30, 60, C), (50, 80, N), (55, 70, N)], PartTimes(50, 10, 0, 0, 20, 0, 20)),
        # C06: a peer copy is communication
        ([(0, 60, C), (40, 80, N)], PartTimes(40, 20, 0, 0, 20, 0, 20)),
        # C51: a whole-graph record is busy with the unknown
        ([(0, 95, G)], PartTimes(0, 0, 0, 95, 0, 0, 5)),
        # C36: a fused kernel alone, and one beside compute
        ([(0, 20, F), (10, 30, C)], PartTimes(10, 10, 10, 0, 0, 0, 70)),
    ],
)
def test_partition_of_a_window_of_100(activities: list[Piece], expected: PartTimes) -> None:
    assert _part_times(activities, (0, 100)) == expected


def test_a_window_of_no_length_holds_nothing() -> None:
    occupancy = sweep(*_arrays([(0, 10, C)]), (5, 5))

    assert occupancy.part_times() == PartTimes(0, 0, 0, 0, 0, 0, 0)
    assert len(occupancy.idle()) == 0


def test_states_with_selects_by_presence_and_absence() -> None:
    chosen = np.flatnonzero(states_with(C | N, F)).tolist()

    assert chosen == [C | N, C | N | G, C | N | M, C | N | G | M]
