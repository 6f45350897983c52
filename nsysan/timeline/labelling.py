"""Which of many intervals holds at each moment, as one step function of time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct
from nsysan.timeline.compiled import is_worth_compiling
from nsysan.timeline.ordering import grouped_rows, order_of
from nsysan.timeline.search import search
from nsysan.timeline.stack_sweep import NOBODY, sweep_stack

__all__ = [
    "NOBODY",
    "NOTHING_LABELLED",
    "Labelling",
    "Nest",
    "Pieces",
    "depths_of",
    "first_come",
    "innermost",
    "nest_of",
    "overlaid",
]


class Pieces(msgspec.Struct, frozen=True, eq=False):
    """Asked intervals cut where the label changes: piece ``i`` lies in interval ``asked[i]`` and has one label."""

    asked: Int64Array
    start_ns: Int64Array
    end_ns: Int64Array
    labels: Int64Array


class Labelling(msgspec.Struct, frozen=True, eq=False):
    """``labels[i]`` holds from ``bounds_ns[i]`` to the next bound; before the first and from the last on: ``NOBODY``.

    The bounds ascend strictly; the last label is ``NOBODY``.
    """

    bounds_ns: Int64Array
    labels: Int64Array

    def at(self, times_ns: Int64Array) -> Int64Array:
        """The label of each moment."""
        if not len(self.bounds_ns):
            return np.full(len(times_ns), NOBODY)
        places = search(self.bounds_ns, times_ns, side="right") - 1
        return np.where(places < 0, NOBODY, self.labels[np.maximum(places, 0)])

    def pieces(self, start_ns: Int64Array, end_ns: Int64Array) -> Pieces:
        """The intervals ``[start, end)``, cut at the bounds inside them; empty ones have no piece."""
        first = np.searchsorted(self.bounds_ns, start_ns, side="right")
        last = np.searchsorted(self.bounds_ns, end_ns, side="left")
        counts = np.where(end_ns > start_ns, np.maximum(last - first, 0) + 1, 0)
        if counts.max(initial=0) <= 1:
            whole = np.flatnonzero(counts)
            return Pieces(whole, start_ns[whole], end_ns[whole], self._from(first[whole]))
        asked = np.repeat(np.arange(len(start_ns)), counts)
        # the place of each piece among those of its interval, counted from 0
        within = np.arange(len(asked)) - np.repeat(np.cumsum(counts) - counts, counts)
        bound = first[asked] + within
        padded = np.append(self.bounds_ns, 0)
        starts_ns = np.where(within == 0, start_ns[asked], padded[np.minimum(bound - 1, len(padded) - 1)])
        ends_ns = np.where(within == counts[asked] - 1, end_ns[asked], padded[np.minimum(bound, len(padded) - 1)])
        return Pieces(asked, starts_ns, ends_ns, self._from(bound))

    def _from(self, next_bounds: Int64Array) -> Int64Array:
        """The label that holds before each of these bounds, which are places among all of them."""
        return np.append(self.labels, NOBODY)[next_bounds - 1]

    def relabelled(self, new_labels: Int64Array) -> Labelling:
        """The same with label ``i`` replaced by ``new_labels[i]``."""
        known = self.labels != NOBODY
        labels = np.full(len(self.labels), NOBODY)
        labels[known] = new_labels[self.labels[known]]
        return Labelling(self.bounds_ns, labels)


NOTHING_LABELLED = Labelling(np.empty(0, np.int64), np.empty(0, np.int64))


def overlaid(layers: Sequence[Labelling]) -> Labelling:
    """At each moment the label of the first layer that has one."""
    layers = [layer for layer in layers if len(layer.bounds_ns)]
    if len(layers) == 1:
        return layers[0]
    bounds_ns = distinct(np.concatenate([np.empty(0, np.int64), *(layer.bounds_ns for layer in layers)]))
    labels = np.full(len(bounds_ns), NOBODY)
    for layer in reversed(layers):
        upper = layer.at(bounds_ns)
        labels = np.where(upper == NOBODY, labels, upper)
    return Labelling(bounds_ns, labels)


def first_come(start_ns: Int64Array, end_ns: Int64Array) -> Labelling:
    """At each moment the row of the interval that began first of those that hold; of equal begins the longest."""
    order = _in_order(start_ns, end_ns)
    start_ns, end_ns = start_ns[order], end_ns[order]
    covered_until_ns = np.maximum.accumulate(end_ns)
    start_ns = np.maximum(start_ns, np.concatenate([start_ns[:1], covered_until_ns[:-1]]))
    visible = end_ns > start_ns
    return _from_disjoint(start_ns[visible], end_ns[visible], order[visible])


class Nest(msgspec.Struct, frozen=True, eq=False):
    """How intervals lie in each other: ``innermost`` at each moment, by its row, and which interval each begins in.

    Of several that hold the innermost began last; of equal begins it is the shortest. A parent is a row, ``NOBODY``
    where none holds or the interval is empty.
    """

    innermost: Labelling
    parents: Int64Array


def nest_of(start_ns: Int64Array, end_ns: Int64Array) -> Nest:
    """The nest of these intervals.

    Nested intervals, which ranges on a thread nearly always are, take the vectorised way; others a plain sweep.
    """
    order = _in_order(start_ns, end_ns)
    parents = np.full(len(start_ns), NOBODY)
    if not len(order):
        return Nest(NOTHING_LABELLED, parents)
    start_ns, end_ns = start_ns[order], end_ns[order]
    # machine code sweeps faster than whole columns can be handled one after the other
    found = None if is_worth_compiling(len(order)) else _nested(start_ns, end_ns)
    times_ns, rows, positions = sweep_stack(start_ns, end_ns) if found is None else found
    parents[order] = np.append(order, NOBODY)[positions]
    return Nest(_last_of_each_moment(times_ns, rows).relabelled(order), parents)


def innermost(start_ns: Int64Array, end_ns: Int64Array) -> Labelling:
    """At each moment the row of the interval that began last of those that hold; of equal begins the shortest."""
    return nest_of(start_ns, end_ns).innermost


def depths_of(start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
    """How many of the intervals before each hold when it begins; they are in order of start, the longest first."""
    depths: Int64Array = np.arange(len(start_ns)) - search(np.sort(end_ns), start_ns, side="right")
    return depths


def _nested(start_ns: Int64Array, end_ns: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array] | None:
    """What ``sweep_stack`` finds of the same intervals; None where two overlap partly."""
    rows = np.arange(len(start_ns))
    # how many begin before each ends, which all end before the next begins where they are nested
    begun = np.searchsorted(start_ns, end_ns)
    depths = rows - np.cumsum(np.bincount(begun, minlength=len(rows) + 1))[: len(rows)]
    parents = _parents(depths)
    inner = np.flatnonzero(depths > 0)
    around = parents[inner]
    if not ((start_ns[inner] < end_ns[around]) & (end_ns[inner] <= end_ns[around]) & (around < inner)).all():
        return None
    times_ns, labels = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.int64)
    # before a begin lie the begins of all before it and the ends of those that are over; an end follows all it holds
    begins = 2 * rows - depths
    times_ns[begins], labels[begins] = start_ns, rows
    ends = begins + 2 * (begun - rows) - 1
    times_ns[ends], labels[ends] = end_ns, parents
    return times_ns, labels, parents


def _parents(depths: Int64Array) -> Int64Array:
    """The last position before each at which the depth is smaller by one; ``NOBODY`` where it is 0."""
    by_depth = grouped_rows(depths, int(depths.max(initial=0)) + 1)
    ordered, span = depths[by_depth], len(depths) + 1
    found = np.searchsorted(ordered * span + by_depth, (ordered - 1) * span + by_depth) - 1
    parents = np.empty(len(depths), np.int64)
    parents[by_depth] = np.where(ordered > 0, by_depth[found], NOBODY)
    return parents


def _in_order(start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
    solid = np.flatnonzero(end_ns > start_ns)
    return solid[order_of(start_ns[solid], -end_ns[solid])]


def _from_disjoint(start_ns: Int64Array, end_ns: Int64Array, rows: Int64Array) -> Labelling:
    times_ns = np.stack([start_ns, end_ns], axis=1).ravel()
    labels = np.stack([rows, np.full(len(rows), NOBODY)], axis=1).ravel()
    return _last_of_each_moment(times_ns, labels)


def _last_of_each_moment(times_ns: Int64Array, labels: Int64Array) -> Labelling:
    last = np.append(times_ns[1:] != times_ns[:-1], np.ones(min(len(times_ns), 1), np.bool_))
    return Labelling(times_ns[last], labels[last])
