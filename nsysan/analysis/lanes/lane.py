"""Lanes of the timeline: the parts over time, in pieces that are exact or as fine as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsysan.model.packing import pack
from nsysan.model.partition import Part
from nsysan.model.tables import Int64Array
from nsysan.timeline.coverage import coverage, even_edges, part_edges
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.occupancy import Occupancy

OUTSIDE = "outside"
COLUMNS = (*(part.value for part in Part), OUTSIDE)
"""What a piece's time is divided into; outside is what lies beyond a GPU's window, in a lane of several GPUs."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The parts over time, as ``piece_count`` pieces from ``start_ns`` on that follow each other without a hole.

    ``pieces`` packs of each piece its length, the columns that have a share of it as bits, and the time of each of
    these but the last, which has the rest of ``gpu_count`` times the length. The times of a column add up to its part
    over the window. ``mixed_ns`` is the length of the longest piece that holds more than one column: within it the
    order is not known. It is 0 where the lane is exact.
    """

    start_ns: int
    gpu_count: int
    piece_count: int
    mixed_ns: int
    pieces: str


def lane_of(occupancy: Occupancy, exact: Intervals, limit: int) -> Lane:
    """The lane of one GPU or stream: exact if it has at most twice ``limit`` pieces then, each of which is short.

    Else it has ``limit`` / 2 even pieces, and within the intervals ``exact`` a piece for each change.
    """
    return pack_lane(*_cut(occupancy, exact, limit), gpu_count=1)


def lane_over(occupancies: Sequence[Occupancy], edges_ns: Int64Array) -> Lane:
    """The lane of several GPUs whose windows are on one clock, in the pieces between these edges."""
    total = sum(coverage(occupancy, edges_ns) for occupancy in occupancies)
    return pack_lane(edges_ns, np.asarray(total), gpu_count=len(occupancies))


def pack_lane(edges_ns: Int64Array, times_ns: Int64Array, gpu_count: int) -> Lane:
    """The lane of pieces between these edges, from the time of each part (columns) in each of them (rows)."""
    lengths_ns = np.diff(edges_ns)
    outside_ns = gpu_count * lengths_ns - times_ns.sum(axis=1)
    shares_ns = np.column_stack((times_ns, outside_ns))
    present = shares_ns > 0
    masks = present @ (1 << np.arange(len(COLUMNS)))
    # the last share follows from the others: it is not written
    last = len(COLUMNS) - 1 - np.argmax(present[:, ::-1], axis=1)
    written = present.copy()
    written[np.arange(len(last)), last] = False
    numbers = np.column_stack((lengths_ns, masks, shares_ns))
    kept = np.column_stack((np.ones((len(last), 2), dtype=np.bool_), written))
    mixed = present.sum(axis=1) > 1
    return Lane(
        start_ns=int(edges_ns[0]),
        gpu_count=gpu_count,
        piece_count=len(lengths_ns),
        mixed_ns=int(lengths_ns[mixed].max(initial=0)),
        pieces=pack(numbers[kept]),
    )


def _cut(occupancy: Occupancy, exact: Intervals, limit: int) -> tuple[Int64Array, Int64Array]:
    """The edges of the pieces, and the time of each part between them."""
    changes_ns = part_edges(occupancy)
    edges_ns = changes_ns
    if len(changes_ns) > 2 * limit + 1:
        grid_ns = even_edges(int(changes_ns[0]), int(changes_ns[-1]), limit // 2)
        edges_ns = np.unique(np.concatenate((grid_ns, changes_ns[_inside(changes_ns, exact)])))
    return edges_ns, coverage(occupancy, edges_ns)


def _inside(moments_ns: Int64Array, intervals: Intervals) -> Int64Array:
    """Which of the moments lie in an interval, its end included."""
    if not len(intervals):
        return np.empty(0, dtype=np.int64)
    holding = (np.searchsorted(intervals.start_ns, moments_ns, side="right") - 1).clip(min=0)
    inside = (moments_ns >= intervals.start_ns[holding]) & (moments_ns <= intervals.end_ns[holding])
    return np.flatnonzero(inside)
