"""How much of each part lies between any two moments: exact sums of the partition over stretches of time."""

from __future__ import annotations

import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import distinct, summed
from nsysan.model.partition import Part
from nsysan.timeline.occupancy import Occupancy
from nsysan.timeline.ordering import order_of


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
    before_ns = sums_before(np.diff(bounds_ns), parts, len(Part), holding)
    before_ns[np.arange(len(edges_ns)), parts[holding]] += inside_ns - bounds_ns[holding]
    return before_ns[1:] - before_ns[:-1]


def sums_before(lengths_ns: Int64Array, kinds: IdArray, kind_count: int, places: Int64Array) -> Int64Array:
    """The time of each kind (columns) in the pieces before each place (rows), all less what is before the first one."""
    order = order_of(places)
    ordered = places[order]
    pieces = slice(ordered[0], ordered[-1])
    between = np.repeat(np.arange(len(places) - 1), np.diff(ordered))
    sums_ns = summed(lengths_ns[pieces], between * kind_count + kinds[pieces], (len(places) - 1) * kind_count)
    before_ns = np.zeros((len(places), kind_count), np.int64)
    before_ns[order[1:]] = np.cumsum(sums_ns.reshape(-1, kind_count), axis=0)
    return before_ns


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
