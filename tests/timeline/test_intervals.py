"""Intervals against sets of single nanoseconds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.timeline.intervals import Intervals, intersection, those_near, union

PIECES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=8)


def _union(drawn: list[tuple[int, int]]) -> tuple[Intervals, set[int]]:
    starts, lengths = (np.array(column, np.int64) for column in zip(*drawn, strict=True)) if drawn else ([], [])
    starts, lengths = np.array(starts, np.int64), np.array(lengths, np.int64)
    return union(starts, starts + lengths), {
        moment for start, length in drawn for moment in range(start, start + length)
    }


def _moments(found: Intervals) -> set[int]:
    return {
        moment
        for start, end in zip(found.start_ns.tolist(), found.end_ns.tolist(), strict=True)
        for moment in range(start, end)
    }


@settings(deadline=None)
@given(PIECES, PIECES)
def test_what_both_cover(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    first, of_first = _union(one)
    second, of_second = _union(other)

    found = intersection(first, second)

    assert _moments(found) == of_first & of_second
    assert found.total_ns == first.overlap_ns(second) == len(of_first & of_second)
    # sorted, and none touches the next
    assert bool((found.start_ns[1:] > found.end_ns[:-1]).all())


@given(PIECES, PIECES)
def test_those_near_hold_all_that_overlap(pieces: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    starts_ns, lengths_ns = np.array(sorted(pieces), np.int64).reshape(len(pieces), 2).T
    first_ns, asked_ns = np.array(asked, np.int64).reshape(len(asked), 2).T

    latest_ns = np.maximum.accumulate(starts_ns + lengths_ns)
    found = those_near(starts_ns, latest_ns, (first_ns, first_ns + asked_ns)).tolist()

    overlapping = {
        place
        for place, (start, length) in enumerate(sorted(pieces))
        for first, wanted in asked
        if max(start, first) < min(start + length, first + wanted)
    }
    assert overlapping <= set(found)
    assert found == sorted(set(found))
