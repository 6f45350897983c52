"""The tree in which ranges nest, by name: a node is a path of names from the top of a thread's nest."""

from __future__ import annotations

import operator
from collections import defaultdict

import msgspec
import numpy as np

from nsysan.attribution.ranges.times import RangeTimes, are_many
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import coded, summed
from nsysan.timeline.labelling import NOBODY
from nsysan.timeline.numbered_paths import numbered_paths
from nsysan.timeline.ordering import slices

Sums = tuple[int, int, int, int, int]
"""Number of ranges, their CPU time, the GPU time launched in them, and of both what no range inside them has."""
_NOTHING: Sums = (0, 0, 0, 0, 0)

_WIDE_LEVELS = 64
"""Hardly a program nests its ranges deeper; where one leaves all of them open, each is a level of its own."""


class PathSums(msgspec.Struct, frozen=True):
    """The paths of one thread: parent (``NOBODY`` at the top) and group of each, and sums; parents come first."""

    nodes: list[tuple[int, int]]
    sums: list[Sums]


class TreeNode(msgspec.Struct, frozen=True):
    """A node of the tree; ``parent`` is a place in the same list."""

    parent: int | None
    group: int
    sums: Sums


class RangeTree:
    """The paths of as many threads as are added, equal ones merged."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], int] = {}
        self._sums: list[Sums] = []

    def __len__(self) -> int:
        return len(self._sums)

    def add(self, paths: PathSums) -> None:
        """Add the paths of one thread."""
        place_of = {NOBODY: NOBODY}
        for number, ((parent, group), added) in enumerate(zip(paths.nodes, paths.sums, strict=True)):
            key = (place_of[parent], group)
            place = self._places.setdefault(key, len(self._sums))
            if place == len(self._sums):
                self._sums.append(_NOTHING)
            self._sums[place] = _added(self._sums[place], added)
            place_of[number] = place

    def largest(self, most: int) -> tuple[TreeNode, ...]:
        """The nodes with the most CPU time whose parents are among them, too: each parent before its children.

        Of one parent's children that with the most CPU time comes first.
        """
        keys = list(self._places)
        by_time = sorted(range(len(keys)), key=lambda place: (-self._sums[place][1], place))[:most]
        children: defaultdict[int, list[int]] = defaultdict(list)
        for place in by_time:
            children[keys[place][0]].append(place)
        nodes: list[TreeNode] = []
        waiting: list[tuple[int | None, int]] = [(None, place) for place in reversed(children[NOBODY])]
        while waiting:
            parent, place = waiting.pop()
            waiting += [(len(nodes), child) for child in reversed(children[place])]
            nodes.append(TreeNode(parent, keys[place][1], self._sums[place]))
        return tuple(nodes)


def _added(sums: Sums, more: Sums) -> Sums:
    count, cpu_ns, gpu_ns, cpu_self_ns, gpu_self_ns = map(operator.add, sums, more)
    return count, cpu_ns, gpu_ns, cpu_self_ns, gpu_self_ns


def path_sums(times: RangeTimes, groups: Int64Array, totals_ns: Int64Array, range_count: int) -> PathSums:
    """The paths of these ranges with their sums.

    ``totals_ns`` is the GPU time launched before each call's place, ``range_count`` how many ranges there are on all
    threads.
    """
    node_of, nodes = (_swept_paths if are_many(range_count) else _paths)(times.parent, groups)
    gpu_ns = totals_ns[times.last_call] - totals_ns[times.first_call]
    counts = np.bincount(node_of, minlength=len(nodes)).tolist()
    columns = (times.end_ns - times.start_ns, gpu_ns, times.cpu_self_ns, times.gpu_self_ns)
    sums = (summed(column, node_of, len(nodes)).tolist() for column in columns)
    return PathSums(nodes, list(zip(counts, *sums, strict=True)))


def _swept_paths(parents: IdArray, groups: Int64Array) -> tuple[IdArray, list[tuple[int, int]]]:
    """What ``_paths`` finds: it puts the paths in order, which are few."""
    path_of, before, last = numbered_paths(parents, groups)
    node_of, nodes = _paths(before, last)
    return node_of[path_of], nodes


def _paths(parents: IdArray, groups: IdArray) -> tuple[Int64Array, list[tuple[int, int]]]:
    """The node of each range, and of each node its parent's number (``NOBODY`` at the top) and its group."""
    paths = _Paths(parents, groups)
    for _ in range(_WIDE_LEVELS):
        paths.add_level()
    paths.add_rest()
    return paths.node_of, paths.nodes


class _Paths:
    """Ranges sorted into nodes from the top of their nests down."""

    def __init__(self, parent: IdArray, groups: IdArray) -> None:
        self.node_of = np.full(len(groups), NOBODY)
        self.nodes: list[tuple[int, int]] = []
        self._parent, self._groups = parent, groups
        self._children = np.argsort(parent, kind="stable")
        # those of NOBODY come first
        bounds = np.cumsum(np.bincount(parent + 1, minlength=len(groups) + 1))
        self._first, self._last = bounds[:-1], bounds[1:]
        self._level = self._children[: bounds[0]]

    def add_level(self) -> None:
        """The next level, all of it at once."""
        level, group_count = self._level, int(self._groups.max(initial=0)) + 1
        unique, key_of = coded(self._nodes_above(level) * group_count + self._groups[level])
        self.node_of[level] = len(self.nodes) + key_of
        self.nodes += zip(*(part.tolist() for part in np.divmod(unique, group_count)), strict=True)
        self._level = self._children[slices(self._first[level], self._last[level] - self._first[level])]

    def add_rest(self) -> None:
        """All levels that are left, range by range: where nests are deep a level has few."""
        above, groups = self._nodes_above(self._level).tolist(), self._groups.tolist()
        waiting = list(zip(above, self._level.tolist(), strict=True))
        numbers: dict[tuple[int, int], int] = {}
        for above_node, row in waiting:
            key = (above_node, groups[row])
            node = numbers.setdefault(key, len(self.nodes))
            if node == len(self.nodes):
                self.nodes.append(key)
            self.node_of[row] = node
            # the list grows while it is walked, so that parents come first
            waiting += ((node, child) for child in self._children[self._first[row] : self._last[row]].tolist())

    def _nodes_above(self, rows: Int64Array) -> Int64Array:
        parents = self._parent[rows]
        return np.where(parents == NOBODY, NOBODY, self.node_of[parents])
