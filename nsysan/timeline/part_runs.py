"""Unbroken stretches of one part of the partition: where they begin and end, how many there are, and the longest."""

from __future__ import annotations

import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.partition import Part
from nsysan.timeline.compiled import compiled, is_worth_compiling
from nsysan.timeline.occupancy import PART_OF_STATE, KindArray, Occupancy


def part_edges(occupancy: Occupancy, first: int = 0, last: int | None = None) -> Int64Array:
    """The moments at which the part changes, with both ends of the window: between two of them one part holds.

    Only those among the bounds from ``first`` to before ``last``.
    """
    states = occupancy.states
    last = len(states) + 1 if last is None else last
    begin = max(first - 1, 0)
    parts = PART_OF_STATE[states[begin:last]]
    kept = begin + 1 + np.flatnonzero(parts[1:] != parts[:-1])
    ends = [place for place in dict.fromkeys((0, len(states))) if first <= place < last]
    return occupancy.bounds_ns[np.sort(np.append(kept, ends).astype(np.intp))]


def longest_runs(occupancy: Occupancy) -> tuple[int, Int64Array]:
    """How many unbroken stretches of a part there are, and of each part (rows) begin and end of the longest.

    Of equally long ones it is the first; a part that never holds has 0 for both.
    """
    longest_ns = np.zeros((len(Part), 2), np.int64)
    if is_worth_compiling(len(occupancy.states)):
        count = compiled(_sweep)(occupancy.bounds_ns, occupancy.states, PART_OF_STATE, longest_ns)
        return count, longest_ns
    edges_ns = part_edges(occupancy)
    parts = occupancy.parts[np.searchsorted(occupancy.bounds_ns, edges_ns[:-1])]
    lengths_ns = np.diff(edges_ns)
    for part in range(len(Part)):
        rows = np.flatnonzero(parts == part)
        if len(rows):
            row = rows[np.argmax(lengths_ns[rows])]
            longest_ns[part] = edges_ns[row : row + 2]
    return len(parts), longest_ns


def _sweep(bounds: Int64Array, states: KindArray, part_of: IdArray, longest: Int64Array) -> int:
    """How many stretches there are; the longest of each part is written."""
    count = begin = 0
    for piece in range(1, len(bounds)):
        part = part_of[states[begin]]
        if piece == len(states) or part_of[states[piece]] != part:
            count += 1
            if bounds[piece] - bounds[begin] > longest[part, 1] - longest[part, 0]:
                longest[part] = bounds[begin], bounds[piece]
            begin = piece
    return count
