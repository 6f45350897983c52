"""Disjoint half-open intervals in order of time, and the union that makes them."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.timeline.ordering import slices
from nsysan.timeline.search import search

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
        return self._covered_until(times_ns, self._covered_before())

    def _covered_before(self) -> Int64Array:
        """The time covered before each interval, and by all."""
        total_ns = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.durations_ns, out=total_ns[1:])
        return total_ns

    def _covered_until(self, times_ns: Int64Array, total_ns: Int64Array) -> Int64Array:
        begun = search(self.start_ns, times_ns)
        # the last one begun may not have ended yet
        last_end_ns = self.end_ns[np.maximum(begun - 1, 0)] if len(self) else times_ns
        rest_ns: Int64Array = np.where(begun > 0, np.maximum(last_end_ns - times_ns, 0), 0)
        covered: Int64Array = total_ns[begun] - rest_ns
        return covered

    def covers(self, times_ns: Int64Array) -> BoolArray:
        """Whether an interval holds each moment."""
        begun = search(self.start_ns, times_ns, side="right")
        held: BoolArray = search(self.end_ns, times_ns, side="right") < begun
        return held

    def within(self, start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
        """The time covered in each stretch ``[start, end)``."""
        total_ns = self._covered_before()
        return self._covered_until(end_ns, total_ns) - self._covered_until(start_ns, total_ns)

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
        return int(self.within(other.start_ns, other.end_ns).sum())


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
    few, many = sorted((one, other), key=len)
    # of each of the fewer those that it shares time with follow each other
    first = np.searchsorted(many.end_ns, few.start_ns, side="right")
    counts = np.maximum(np.searchsorted(many.start_ns, few.end_ns) - first, 0)
    places, own = slices(first, counts), np.repeat(np.arange(len(few)), counts)
    start_ns, end_ns = (
        np.maximum(many.start_ns[places], few.start_ns[own]),
        np.minimum(many.end_ns[places], few.end_ns[own]),
    )
    # touching ones are one, as where states change
    return union(start_ns, end_ns)
