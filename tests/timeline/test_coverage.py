"""Sums of the partition over stretches, against a count of every nanosecond."""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.partition import Activity, Part, part_of
from nsysan.timeline.coverage import coverage, even_edges
from nsysan.timeline.occupancy import Occupancy, sweep
from nsysan.timeline.part_runs import longest_runs, part_edges

PARTS = list(Part)
Piece = tuple[int, int, Activity]

pieces = st.lists(st.tuples(st.integers(-5, 45), st.integers(0, 20), st.sampled_from(list(Activity))), max_size=25)
windows = st.tuples(st.integers(-8, 50), st.integers(0, 40)).map(lambda pair: (pair[0], pair[0] + pair[1]))
edges = st.lists(st.integers(-20, 100), min_size=2, max_size=12, unique=True).map(sorted)


def occupancy_of(drawn: list[Piece], window_ns: tuple[int, int]) -> Occupancy:
    starts = np.array([start for start, _, _ in drawn], dtype=np.int64)
    ends = starts + np.array([length for _, length, _ in drawn], dtype=np.int64)
    return sweep(starts, ends, np.array([kind for _, _, kind in drawn], dtype=np.uint8), window_ns)


def part_at(moment: int, drawn: list[Piece]) -> Part:
    running = Activity(0)
    for start, length, kind in drawn:
        if start <= moment < start + length:
            running |= kind
    return part_of(running)


@pytest.mark.usefixtures("mode")
@given(pieces, windows, edges)
def test_each_stretch_holds_the_nanoseconds_of_each_part(
    drawn: list[Piece], window_ns: tuple[int, int], edges_ns: list[int]
) -> None:
    expected = np.zeros((len(edges_ns) - 1, len(PARTS)), dtype=int)
    for row, (start, end) in enumerate(pairwise(edges_ns)):
        for moment in set(range(start, end)) & set(range(*window_ns)):
            expected[row, PARTS.index(part_at(moment, drawn))] += 1

    assert coverage(occupancy_of(drawn, window_ns), np.array(edges_ns)).tolist() == expected.tolist()


@pytest.mark.usefixtures("mode")
@given(pieces, windows, st.lists(st.tuples(st.integers(-5, 60), st.integers(0, 20)), min_size=1, max_size=5))
def test_stretches_may_overlap_and_come_in_any_order(
    drawn: list[Piece], window_ns: tuple[int, int], stretches: list[tuple[int, int]]
) -> None:
    occupancy = occupancy_of(drawn, window_ns)
    pairs = [np.array([start, start + length]) for start, length in stretches]

    together = coverage(occupancy, np.concatenate(pairs))[::2].tolist()

    assert together == [coverage(occupancy, pair)[0].tolist() for pair in pairs]


@pytest.mark.usefixtures("mode")
@given(pieces, windows, st.lists(st.integers(1, 30), min_size=1, max_size=4))
def test_every_level_adds_up_to_the_partition(
    drawn: list[Piece], window_ns: tuple[int, int], counts: list[int]
) -> None:
    occupancy = occupancy_of(drawn, window_ns)
    times = occupancy.part_times()
    expected = [times.of(part) for part in Part]

    for edges_ns in (part_edges(occupancy), *(even_edges(*window_ns, count) for count in counts)):
        assert coverage(occupancy, edges_ns).sum(axis=0).tolist() == expected


@pytest.mark.usefixtures("mode")
@given(pieces, windows)
def test_between_two_changes_one_part_holds(drawn: list[Piece], window_ns: tuple[int, int]) -> None:
    occupancy = occupancy_of(drawn, window_ns)
    held = coverage(occupancy, part_edges(occupancy)) > 0

    assert (held.sum(axis=1) == 1).all()
    assert (held[1:] != held[:-1]).any(axis=1).all()


@pytest.mark.usefixtures("mode")
@given(pieces, windows)
def test_the_longest_stretch_of_a_part_is_the_first_of_those_that_take_longest(
    drawn: list[Piece], window_ns: tuple[int, int]
) -> None:
    runs = [(part, list(run)) for part, run in groupby(range(*window_ns), key=lambda moment: part_at(moment, drawn))]
    expected = [
        max(
            ((run[0], run[-1] + 1) for of, run in runs if of is part),
            key=lambda span: span[1] - span[0],
            default=(0, 0),
        )
        for part in PARTS
    ]

    count, longest_ns = longest_runs(occupancy_of(drawn, window_ns))

    assert (count, [tuple(span) for span in longest_ns.tolist()]) == (len(runs), expected)


@given(pieces, windows, st.integers(0, 20), st.integers(0, 20))
def test_edges_among_some_bounds_are_those_of_all_that_are_among_them(
    drawn: list[Piece], window_ns: tuple[int, int], first: int, count: int
) -> None:
    occupancy = occupancy_of(drawn, window_ns)
    among = set(occupancy.bounds_ns[first : first + count].tolist())

    found = part_edges(occupancy, first, first + count).tolist()

    assert found == [moment for moment in part_edges(occupancy).tolist() if moment in among]


@pytest.mark.parametrize(
    ("span", "count", "expected"),
    [
        ((0, 10), 5, [0, 2, 4, 6, 8, 10]),
        ((100, 110), 4, [100, 102, 105, 107, 110]),
        ((7, 9), 5, [7, 8, 9]),
        # 10 days in 8,192 pieces: a float would round the edges
        ((1, 1 + 864 * 10**12), 2, [1, 1 + 432 * 10**12, 1 + 864 * 10**12]),
    ],
)
def test_even_edges_are_whole_and_as_even_as_can_be(span: tuple[int, int], count: int, expected: list[int]) -> None:
    assert even_edges(*span, count).tolist() == expected
