"""What two sets of intervals share, and what one has outside of the other, against counting moment by moment."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.timeline.intervals import Intervals, intersection, union

MOMENTS = 40

edges = st.lists(st.tuples(st.integers(0, MOMENTS), st.integers(0, MOMENTS)), max_size=6)


def intervals(pairs: list[tuple[int, int]]) -> Intervals:
    starts = np.array([min(pair) for pair in pairs], np.int64)
    ends = np.array([max(pair) for pair in pairs], np.int64)
    return union(starts, ends)


def moments(found: Intervals) -> set[int]:
    return {
        moment
        for start, end in zip(found.start_ns.tolist(), found.end_ns.tolist(), strict=True)
        for moment in range(start, end)
    }


@settings(max_examples=60, deadline=None)
@given(edges, edges, st.integers(0, MOMENTS), st.integers(0, MOMENTS))
def test_sets_of_intervals_are_sets_of_moments(
    one: list[tuple[int, int]], other: list[tuple[int, int]], first: int, last: int
) -> None:
    a, b = intervals(one), intervals(other)
    begin, end = min(first, last), max(first, last)

    assert moments(intersection(a, b)) == moments(a) & moments(b)
    assert moments(a.without(b)) == moments(a) - moments(b)
    assert np.flatnonzero(a.covers(np.arange(MOMENTS))).tolist() == sorted(moments(a) - {MOMENTS})
    assert a.within(np.array([begin]), np.array([end])).tolist() == [len(moments(a) & set(range(begin, end)))]
