"""How much of each part lies between any two moments: exact sums of the partition over stretches of time."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import distinct, summed
from nsysan.model.partition import Part
from nsysan.timeline.compiled import compiled, is_worth_compiling
from nsysan.timeline.occupancy import PART_OF_STATE, KindArray, Occupancy
from nsysan.timeline.ordering import order_of


def coverage(occupancy: Occupancy, edges_ns: Int64Array) -> Int64Array:
    """Nanoseconds of each part (columns) in each stretch ``[edges_ns[i], edges_ns[i + 1])`` (rows).

    The time of a part before a moment is the sum of its pieces that ended by then and what has passed of the one that
    holds; a stretch has the difference between its edges. Beyond the window nothing is counted, so rows that fill the
    window add up to its partition, whatever the edges.
    """
    bounds_ns, states = occupancy.bounds_ns, occupancy.states
    if not len(states):
        return np.zeros((len(edges_ns) - 1, len(Part)), dtype=np.int64)
    inside_ns = edges_ns.clip(bounds_ns[0], bounds_ns[-1])
    holding = (np.searchsorted(bounds_ns, inside_ns, side="right") - 1).clip(max=len(states) - 1)
    before_ns = sums_before(KindPieces(bounds_ns[:-1], bounds_ns[1:], states, PART_OF_STATE), len(Part), holding)
    before_ns[np.arange(len(edges_ns)), PART_OF_STATE[states[holding]]] += inside_ns - bounds_ns[holding]
    return before_ns[1:] - before_ns[:-1]


class KindPieces(msgspec.Struct, frozen=True, eq=False):
    """Pieces of time in order; of which kind one is, its code tells by ``kind_of_code``."""

    start_ns: Int64Array
    end_ns: Int64Array
    codes: KindArray | IdArray
    kind_of_code: IdArray


def sums_before(pieces: KindPieces, kind_count: int, places: Int64Array) -> Int64Array:
    """The time of each kind (columns) in the pieces before each place (rows), all less what is before the first one."""
    order = order_of(places)
    ordered = places[order]
    before_ns = np.zeros((len(places), kind_count), np.int64)
    if is_worth_compiling(len(pieces.codes)):
        columns = pieces.start_ns, pieces.end_ns, pieces.codes.astype(np.uint8, copy=False), pieces.kind_of_code
        compiled(_add_up)(*columns, ordered, order, before_ns)
        return before_ns
    chosen = slice(ordered[0], ordered[-1])
    lengths_ns, kinds = pieces.end_ns[chosen] - pieces.start_ns[chosen], pieces.kind_of_code[pieces.codes[chosen]]
    between = np.repeat(np.arange(len(places) - 1), np.diff(ordered))
    sums_ns = summed(lengths_ns, between * kind_count + kinds, (len(places) - 1) * kind_count)
    before_ns[order[1:]] = np.cumsum(sums_ns.reshape(-1, kind_count), axis=0)
    return before_ns


def _add_up(  # noqa: PLR0913, PLR0917 -- what comes in, and room for what comes out: numba makes no lists
    starts: Int64Array,
    ends: Int64Array,
    codes: KindArray,
    kind_of_code: IdArray,
    places: Int64Array,
    rows: Int64Array,
    before: Int64Array,
) -> None:
    """Write to the row of each place, which ascend, the time of each kind from the first place to there."""
    sums = np.zeros_like(before[0])
    piece = places[0]
    for number in range(len(places)):
        while piece < places[number]:
            sums[kind_of_code[codes[piece]]] += ends[piece] - starts[piece]
            piece += 1
        before[rows[number]] = sums


def even_edges(start_ns: int, end_ns: int, count: int) -> Int64Array:
    """The edges of ``count`` stretches of equal length, to the nanosecond; fewer where there are not as many ns."""
    # in whole numbers, for a window of hours times thousands of stretches is beyond what a float holds exactly
    steps = np.arange(count + 1, dtype=np.int64)
    whole, rest = divmod(end_ns - start_ns, count)
    return distinct(start_ns + steps * whole + steps * rest // count)
