"""How much of each part lies between any two moments: exact sums of the partition over stretches of time."""

from __future__ import annotations

import numpy as np

from nsysan.model.distinct import distinct
from nsysan.model.partition import Part
from nsysan.model.tables import BoolArray, Int64Array
from nsysan.timeline.occupancy import Occupancy


def coverage(occupancy: Occupancy, edges_ns: Int64Array) -> Int64Array:
    """Nanoseconds of each part (columns) in each stretch ``[edges_ns[i], edges_ns[i + 1])`` (rows).

    The time of a part before a moment is the sum of its pieces that ended by then and what has passed of the one that
    holds; a stretch has the difference between its edges. Beyond the window nothing is counted, so rows that fill the
    window add up to its partition, whatever the edges.
    """
    bounds_ns, parts = occupancy.bounds_ns, occupancy.parts
    if not len(parts):
        return np.zeros((len(edges_ns) - 1, len(Part)), dtype=np.int64)
    inside_ns = edges_ns.clip(bounds_ns[0], bounds_ns[-1])
    holding = (np.searchsorted(bounds_ns, inside_ns, side="right") - 1).clip(max=len(parts) - 1)
    passed_ns = inside_ns - bounds_ns[holding]
    lengths_ns = np.diff(bounds_ns)
    before_ns = np.zeros((len(edges_ns), len(Part)), np.int64)
    for part in np.flatnonzero(np.bincount(parts)).tolist():
        before_ns[:, part] = _before(lengths_ns, parts == part, holding, passed_ns)
    return before_ns[1:] - before_ns[:-1]


def part_edges(occupancy: Occupancy) -> Int64Array:
    """The moments at which the part changes, with both ends of the window: between two of them one part holds."""
    kept = np.ones(len(occupancy.bounds_ns), dtype=np.bool_)
    kept[1:-1] = np.diff(occupancy.parts) != 0
    edges_ns: Int64Array = occupancy.bounds_ns[kept]
    return edges_ns


def even_edges(start_ns: int, end_ns: int, count: int) -> Int64Array:
    """The edges of ``count`` stretches of equal length, to the nanosecond; fewer where there are not as many ns."""
    # in whole numbers, for a window of hours times thousands of stretches is beyond what a float holds exactly
    steps = np.arange(count + 1, dtype=np.int64)
    whole, rest = divmod(end_ns - start_ns, count)
    return distinct(start_ns + steps * whole + steps * rest // count)


def _before(lengths_ns: Int64Array, is_part: BoolArray, holding: Int64Array, passed_ns: Int64Array) -> Int64Array:
    """The time of one part before each moment, which lies ``passed_ns`` inside the piece ``holding``."""
    ended_ns = np.concatenate(([0], np.cumsum(np.where(is_part, lengths_ns, 0))))
    before: Int64Array = ended_ns[holding] + np.where(is_part[holding], passed_ns, 0)
    return before
