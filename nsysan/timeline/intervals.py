"""Disjoint half-open intervals in order of time, and the union that makes them."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.timeline.ordering import slices

Stretches = tuple[Int64Array, Int64Array]
"""Begins and ends of stretches of time, which may overlap and lie in any order."""


class Intervals(msgspec.Struct, frozen=True, eq=False):
    """Sorted, disjoint, non-empty, non-touching intervals ``[start_ns[i], end_ns[i])``."""

    start_ns: Int64Array
    end_ns: Int64Array

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def durations_ns(self) -> Int64Array:
        """The length of each interval."""
        return self.end_ns - self.start_ns

    @property
    def total_ns(self) -> int:
        """The time covered."""
        return int(self.durations_ns.sum())

    def take(self, chosen: IdArray | BoolArray) -> Intervals:
        """Some of the intervals, by their places in order or a mask."""
        return Intervals(self.start_ns[chosen], self.end_ns[chosen])

    def covered_until(self, times_ns: Int64Array) -> Int64Array:
        """The time covered before each moment."""
        begun = np.searchsorted(self.start_ns, times_ns)
        total_ns = np.concatenate([[0], np.cumsum(self.durations_ns)])
        # the last one begun may not have ended yet
        last_end_ns = self.end_ns[np.maximum(begun - 1, 0)] if len(self) else times_ns
        rest_ns: Int64Array = np.where(begun > 0, np.maximum(last_end_ns - times_ns, 0), 0)
        covered: Int64Array = total_ns[begun] - rest_ns
        return covered

    def covers(self, times_ns: Int64Array) -> BoolArray:
        """Whether an interval holds each moment."""
        begun = np.searchsorted(self.start_ns, times_ns, side="right")
        held: BoolArray = np.searchsorted(self.end_ns, times_ns, side="right") < begun
        return held

    def within(self, start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
        """The time covered in each stretch ``[start, end)``."""
        inside: Int64Array = self.covered_until(end_ns) - self.covered_until(start_ns)
        return inside

    def without(self, other: Intervals) -> Intervals:
        """What of these intervals lies outside of the other ones."""
        if not len(self):
            return self
        first_ns, last_ns = self.start_ns[:1], self.end_ns[-1:]
        begins_ns = np.concatenate([first_ns, np.maximum(other.end_ns, first_ns)])
        ends_ns = np.concatenate([np.minimum(other.start_ns, last_ns), last_ns])
        return intersection(self, union(begins_ns, ends_ns))

    def overlap_ns(self, other: Intervals) -> int:
        """The time that both cover."""
        return int((self.covered_until(other.end_ns) - self.covered_until(other.start_ns)).sum())


def union(start_ns: Int64Array, end_ns: Int64Array) -> Intervals:
    """The moments covered by at least one ``[start, end)``; touching intervals merge, empty ones add nothing."""
    solid = end_ns > start_ns
    if not solid.all():
        start_ns, end_ns = start_ns[solid], end_ns[solid]
    if not len(start_ns):
        return Intervals(start_ns, end_ns)
    if not (start_ns[1:] >= start_ns[:-1]).all():
        order = np.argsort(start_ns, kind="stable")
        start_ns, end_ns = start_ns[order], end_ns[order]
    covered_until_ns = np.maximum.accumulate(end_ns)
    breaks = np.flatnonzero(start_ns[1:] > covered_until_ns[:-1])
    heads = np.concatenate(([0], breaks + 1))
    tails = np.concatenate((breaks, [len(start_ns) - 1]))
    return Intervals(start_ns[heads], covered_until_ns[tails])


def those_near(start_ns: Int64Array, latest_ns: Int64Array, asked: Stretches) -> Int64Array:
    """The places of some of the intervals, among them all that overlap one of the stretches asked for.

    The intervals are in order of begin; ``latest_ns`` is the latest end up to each.
    """
    # from the first before which not all have ended up to the last that begins before the stretch ends
    places = union(np.searchsorted(latest_ns, asked[0], side="right"), np.searchsorted(start_ns, asked[1]))
    return slices(places.start_ns, places.durations_ns)


def intersection(one: Intervals, other: Intervals) -> Intervals:
    """The moments that both cover."""
    edges_ns = distinct(np.concatenate([one.start_ns, one.end_ns, other.start_ns, other.end_ns]))
    in_both = (np.diff(one.covered_until(edges_ns)) > 0) & (np.diff(other.covered_until(edges_ns)) > 0)
    return union(edges_ns[:-1][in_both], edges_ns[1:][in_both])
