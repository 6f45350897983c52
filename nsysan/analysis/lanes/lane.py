"""Lanes of the timeline: parts and causes over time, in pieces that are exact or as fine as there is room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np

from nsysan.analysis.lanes.waits import CAUSES_LAST_FIRST, cause_coverage, cause_edges, no_causes
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.packing import pack
from nsysan.model.partition import Part
from nsysan.timeline.coverage import coverage, even_edges
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.occupancy import Occupancy
from nsysan.timeline.part_runs import longest_runs, part_edges

OUTSIDE = "outside"
COLUMNS = (*(part.value for part in Part), OUTSIDE, *(cause.value for cause in CAUSES_LAST_FIRST))
"""What a piece's time is divided into; outside is what lies beyond a GPU's window, in a lane of several GPUs.

Idle time with a known cause is in the cause's column, and only the rest in that of idle.
"""


class Lane(msgspec.Struct, frozen=True):
    """Parts and causes over time, as ``piece_count`` pieces from ``start_ns`` on that follow each other without a hole.

    ``pieces`` packs of each piece its length, the columns that have a share of it as bits, and the time of each of
    these but the last, which has the rest of ``gpu_count`` times the length. The times of a column add up to its part
    or cause over the window. ``mixed_ns`` is the length of the longest piece that holds more than one column: within it
    the order is not known. It is 0 where the lane is exact.
    """

    start_ns: int
    gpu_count: int
    piece_count: int
    mixed_ns: int
    pieces: str


def lane_of(occupancy: Occupancy, exact: Intervals, limit: int, idle: IdlePieces | None = None) -> Lane:
    """The lane of one GPU or stream: exact if it has at most twice ``limit`` pieces then, each of which is short.

    Else it has a piece a part, or if these are too many ``limit`` / 2 even ones, and within the intervals ``exact`` a
    piece for each change. ``idle`` is the idle time by cause, where that is known; even pieces are then ``limit`` / 3.
    """
    edges_ns = _cut(occupancy, exact, limit, idle)
    causes_ns = None if idle is None else cause_coverage(idle, edges_ns)
    return pack_lane(edges_ns, coverage(occupancy, edges_ns), gpu_count=1, causes_ns=causes_ns)


def lane_over(occupancies: Sequence[Occupancy], idle: Iterable[IdlePieces], edges_ns: Int64Array) -> Lane:
    """The lane of several GPUs whose windows and idle time are on one clock, in the pieces between these edges."""
    total = sum(coverage(occupancy, edges_ns) for occupancy in occupancies)
    causes_ns = sum((cause_coverage(pieces, edges_ns) for pieces in idle), start=no_causes(edges_ns))
    return pack_lane(edges_ns, np.asarray(total), gpu_count=len(occupancies), causes_ns=causes_ns)


def pack_lane(edges_ns: Int64Array, times_ns: Int64Array, gpu_count: int, causes_ns: Int64Array | None = None) -> Lane:
    """The lane of pieces between these edges, from the time of each part (columns) in each of them (rows).

    ``causes_ns`` has the part of the idle time whose cause is known, by cause (columns).
    """
    lengths_ns = np.diff(edges_ns)
    outside_ns = gpu_count * lengths_ns - times_ns.sum(axis=1)
    shares_ns = np.column_stack((times_ns, outside_ns))
    if causes_ns is not None:
        shares_ns[:, COLUMNS.index(Part.IDLE.value)] -= causes_ns.sum(axis=1)
        shares_ns = np.column_stack((shares_ns, causes_ns))
    present = shares_ns > 0
    column_count = shares_ns.shape[1]
    masks = present @ (1 << np.arange(column_count))
    # the last share follows from the others: it is not written
    last = column_count - 1 - np.argmax(present[:, ::-1], axis=1)
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


def _cut(occupancy: Occupancy, exact: Intervals, limit: int, idle: IdlePieces | None) -> Int64Array:
    """The edges of the pieces."""
    most = 2 * limit + 1
    if longest_runs(occupancy)[0] < most:
        coarse_ns = part_edges(occupancy)
        changes_ns = coarse_ns if idle is None else distinct(np.concatenate([coarse_ns, cause_edges(idle)]))
        if len(changes_ns) <= most:
            return changes_ns
    else:
        # a mixed piece with causes may have three times the columns of one without
        count = max(limit // (2 if idle is None else 3), 1)
        coarse_ns = even_edges(int(occupancy.bounds_ns[0]), int(occupancy.bounds_ns[-1]), count)
    return distinct(np.concatenate([coarse_ns, *_inside(occupancy, idle, exact)]))


def _inside(occupancy: Occupancy, idle: IdlePieces | None, intervals: Intervals) -> Iterator[Int64Array]:
    """The moments in each interval, its end included, at which the part changes or the cause."""
    bounds = _places(occupancy.bounds_ns, intervals)
    yield from (part_edges(occupancy, first, last) for first, last in bounds)
    if idle is not None:
        begins = _places(idle.start_ns, intervals)
        # the first of them changes the cause of the piece before
        yield from (cause_edges(idle.take(np.arange(max(first - 1, 0), last))) for first, last in begins)


def _places(moments_ns: Int64Array, intervals: Intervals) -> Iterator[tuple[int, int]]:
    """Which of the moments, which ascend, lie in each interval, its end included: from the first to before the last."""
    first = np.searchsorted(moments_ns, intervals.start_ns).tolist()
    last = np.searchsorted(moments_ns, intervals.end_ns, side="right").tolist()
    yield from zip(first, last, strict=True)
