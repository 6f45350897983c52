"""Ranges for which there is no room, drawn together: stretches of neighbours, with how many each holds."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import Distinct
from nsysan.model.packing import pack
from nsysan.timeline.ordering import foremost, order_of


class RangesOfDepth(msgspec.Struct, frozen=True):
    """Ranges of one depth of a thread, in order of begin."""

    start_ns: Int64Array
    end_ns: Int64Array
    depth: int


def pack_bundles(ranges: list[RangesOfDepth], origin_ns: int, limit: int) -> tuple[int, str]:
    """How many bundles there are, at most ``limit`` a depth, and of each four numbers, packed, in order of begin.

    They are the time since the begin before (the first: since ``origin_ns``), from its first begin to its last end, how
    many ranges it holds, and their depth.
    """
    rows = np.concatenate([np.empty((0, 4), dtype=np.int64), *(_bundles(each, limit) for each in ranges)])
    rows = rows[order_of(rows[:, 0], rows[:, 3])]
    begun_ns = np.diff(rows[:, 0], prepend=origin_ns)
    return len(rows), pack(np.column_stack((begun_ns, rows[:, 1:])).ravel())


def by_depth(start_ns: Int64Array, end_ns: Int64Array, depth: Int64Array) -> Iterator[RangesOfDepth]:
    """The ranges of each depth that has any."""
    for each in Distinct.of(depth).values.tolist():
        yield RangesOfDepth(start_ns[depth == each], end_ns[depth == each], each)


def _bundles(ranges: RangesOfDepth, limit: int) -> Int64Array:
    """Begin, duration, count and depth of each: the ranges are parted where most time lies between two."""
    ends_ns = np.maximum.accumulate(ranges.end_ns)
    between_ns = ranges.start_ns[1:] - ends_ns[:-1]
    widest = foremost(limit - 1, -between_ns, ranges.start_ns[1:])
    firsts = np.concatenate(([0], np.sort(widest) + 1))
    lasts = np.append(firsts[1:], len(ranges.start_ns)) - 1
    starts_ns = ranges.start_ns[firsts]
    depths = np.full(len(firsts), ranges.depth)
    return np.column_stack((starts_ns, ends_ns[lasts] - starts_ns, lasts - firsts + 1, depths))
