"""Which of many intervals holds at each moment, as one step function of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsysan.model.distinct import distinct
from nsysan.model.tables import Int64Array
from nsysan.timeline.compiled import is_worth_compiling
from nsysan.timeline.ordering import order_of
from nsysan.timeline.stack_sweep import NOBODY, sweep_stack

__all__ = ["NOBODY", "Labelling", "Pieces", "depths_of", "first_come", "innermost", "overlaid", "parents_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Asked intervals cut where the label changes: piece ``i`` lies in interval ``asked[i]`` and has one label."""

    asked: Int64Array
    start_ns: Int64Array
    end_ns: Int64Array
    labels: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """``labels[i]`` holds from ``bounds_ns[i]`` to the next bound; before the first and from the last on: ``NOBODY``.

    The bounds ascend strictly; the last label is ``NOBODY``.
    """

    bounds_ns: Int64Array
    labels: Int64Array

    def at(self, times_ns: Int64Array) -> Int64Array:
        """The label of each moment."""
        if not len(self.bounds_ns):
            return np.full(len(times_ns), NOBODY)
        places = np.searchsorted(self.bounds_ns, times_ns, side="right") - 1
        return np.where(places < 0, NOBODY, self.labels[np.maximum(places, 0)])

    def pieces(self, start_ns: Int64Array, end_ns: Int64Array) -> Pieces:
        """The intervals ``[start, end)``, cut at the bounds inside them; empty ones have no piece."""
        first = np.searchsorted(self.bounds_ns, start_ns, side="right")
        last = np.searchsorted(self.bounds_ns, end_ns, side="left")
        counts = np.where(end_ns > start_ns, np.maximum(last - first, 0) + 1, 0)
        asked = np.repeat(np.arange(len(start_ns)), counts)
        # the place of each piece among those of its interval, counted from 0
        within = np.arange(len(asked)) - np.repeat(np.cumsum(counts) - counts, counts)
        bound = first[asked] + within
        padded = np.append(self.bounds_ns, 0)
        starts_ns = np.where(within == 0, start_ns[asked], padded[np.minimum(bound - 1, len(padded) - 1)])
        ends_ns = np.where(within == counts[asked] - 1, end_ns[asked], padded[np.minimum(bound, len(padded) - 1)])
        return Pieces(asked, starts_ns, ends_ns, self.at(starts_ns))

    def relabelled(self, new_labels: Int64Array) -> Labelling:
        """The same with label ``i`` replaced by ``new_labels[i]``."""
        known = self.labels != NOBODY
        labels = np.full(len(self.labels), NOBODY)
        labels[known] = new_labels[self.labels[known]]
        return Labelling(self.bounds_ns, labels)


NOTHING_LABELLED = Labelling(np.empty(0, np.int64), np.empty(0, np.int64))


def overlaid(layers: Sequence[Labelling]) -> Labelling:
    """At each moment the label of the first layer that has one."""
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


def innermost(start_ns: Int64Array, end_ns: Int64Array) -> Labelling:
    """At each moment the row of the interval that began last of those that hold; of equal begins the shortest.

    Nested intervals, which ranges on a thread nearly always are, take the vectorised way; others a plain sweep.
    """
    order = _in_order(start_ns, end_ns)
    start_ns, end_ns = start_ns[order], end_ns[order]
    if not len(order):
        return NOTHING_LABELLED
    # machine code sweeps faster than whole columns can be handled one after the other
    parents = None if is_worth_compiling(len(order)) else _nested_parents(start_ns, end_ns)
    if parents is None:
        times_ns, rows, _ = sweep_stack(start_ns, end_ns)
        return _last_of_each_moment(times_ns, rows).relabelled(order)
    return _from_nested(start_ns, end_ns, parents).relabelled(order)


def parents_of(start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
    """The row of the innermost interval that holds when each begins, ``NOBODY`` where none does or it is empty."""
    order = _in_order(start_ns, end_ns)
    parents = np.full(len(start_ns), NOBODY)
    if len(order):
        nested = None if is_worth_compiling(len(order)) else _nested_parents(start_ns[order], end_ns[order])
        found = sweep_stack(start_ns[order], end_ns[order])[2] if nested is None else nested
        parents[order] = np.where(found == NOBODY, NOBODY, order[found])
    return parents


def depths_of(start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
    """How many of the intervals before each hold when it begins; they are in order of start, the longest first."""
    depths: Int64Array = np.arange(len(start_ns)) - np.searchsorted(np.sort(end_ns), start_ns, side="right")
    return depths


def _nested_parents(start_ns: Int64Array, end_ns: Int64Array) -> Int64Array | None:
    """The position of the smallest interval around each, ``NOBODY`` where there is none; None where two overlap partly.

    The intervals are not empty and in order of start, of equal starts the longest first.
    """
    depths = depths_of(start_ns, end_ns)
    count = len(start_ns)
    by_depth = np.argsort(depths, kind="stable")
    keys = depths[by_depth] * (count + 1) + by_depth
    wanted = (depths - 1) * (count + 1) + np.arange(count)
    parents = np.where(depths > 0, by_depth[np.searchsorted(keys, wanted) - 1], NOBODY)
    inner = np.flatnonzero(depths > 0)
    around = parents[inner]
    is_nested = (start_ns[inner] < end_ns[around]) & (end_ns[inner] <= end_ns[around]) & (around < inner)
    return parents if is_nested.all() else None


def _in_order(start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
    solid = np.flatnonzero(end_ns > start_ns)
    return solid[order_of(start_ns[solid], -end_ns[solid])]


def _from_disjoint(start_ns: Int64Array, end_ns: Int64Array, rows: Int64Array) -> Labelling:
    times_ns = np.stack([start_ns, end_ns], axis=1).ravel()
    labels = np.stack([rows, np.full(len(rows), NOBODY)], axis=1).ravel()
    return _last_of_each_moment(times_ns, labels)


def _from_nested(start_ns: Int64Array, end_ns: Int64Array, parents: Int64Array) -> Labelling:
    """After a begin the interval itself holds, after an end its parent."""
    count = len(start_ns)
    times_ns = np.concatenate([end_ns, start_ns])
    labels = np.concatenate([parents, np.arange(count)])
    # of one moment: ends before begins; inner ends (later rows) before outer, outer begins before inner
    ranks = np.concatenate([-np.arange(1, count + 1), np.arange(count)])
    order = order_of(times_ns, ranks)
    return _last_of_each_moment(times_ns[order], labels[order])


def _last_of_each_moment(times_ns: Int64Array, labels: Int64Array) -> Labelling:
    last = np.append(times_ns[1:] != times_ns[:-1], np.ones(min(len(times_ns), 1), np.bool_))
    return Labelling(times_ns[last], labels[last])
