"""Ranges for which the timeline has no room: drawn together, none lost, parted where most time lies between."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsysan.analysis.lanes.bundles import RangesOfDepth, pack_bundles
from nsysan.model.packing import unpack


def bundles_of(ranges: list[tuple[int, int]], limit: int, depth: int = 0) -> list[tuple[int, int, int]]:
    """Begin, end and count of each bundle."""
    starts, ends = np.array(ranges, dtype=np.int64).T
    count, packed = pack_bundles([RangesOfDepth(starts, ends, depth)], 0, limit)
    rows = unpack(packed).reshape(-1, 4)
    assert (count, set(rows[:, 3].tolist())) == (len(rows), {depth})
    begins = np.cumsum(rows[:, 0]).tolist()
    return [
        (begin, begin + length, inside)
        for begin, length, inside in zip(begins, rows[:, 1].tolist(), rows[:, 2].tolist(), strict=True)
    ]


def test_neighbours_are_drawn_together_and_the_widest_pauses_part_them() -> None:
    ranges = [(10, 20), (21, 30), (100, 110), (112, 120), (300, 301)]

    assert bundles_of(ranges, 3) == [(10, 30, 2), (100, 120, 2), (300, 301, 1)]
    assert bundles_of(ranges, 2, depth=2) == [(10, 120, 4), (300, 301, 1)]
    assert bundles_of(ranges, 1) == [(10, 301, 5)]


def test_depths_stand_in_order_of_begin() -> None:
    outer = RangesOfDepth(np.array([50]), np.array([90]), 0)
    inner = RangesOfDepth(np.array([40, 60]), np.array([45, 70]), 1)

    assert pack_bundles([], 0, 4) == (0, "")
    assert unpack(pack_bundles([outer, inner], 30, 4)[1]).tolist() == [10, 5, 1, 1, 10, 40, 1, 0, 10, 10, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=30), st.integers(1, 8))
def test_every_range_lies_in_one_bundle_and_they_touch_nowhere(steps: list[tuple[int, int]], limit: int) -> None:
    ranges, now = [], 0
    for pause, length in steps:
        ranges.append((now + pause, now + pause + length))
        now += pause + length

    found = bundles_of(ranges, limit)

    inside = [sum(begin <= start and end <= until for start, end in ranges) for begin, until, _ in found]
    assert inside == [count for _, _, count in found]
    assert sum(inside) == len(ranges)
    assert len(found) == min(limit, len(ranges))
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(found))
