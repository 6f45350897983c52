"""The tree in which ranges nest, by name: a node is a path of names from the top of a thread's nest."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.ranges.times import RangeTimes
from nsysan.model.distinct import coded, summed
from nsysan.model.tables import Int64Array
from nsysan.timeline.labelling import NOBODY

Sums = tuple[int, int, int]
"""Number of ranges, their CPU time, the GPU time launched in them."""


@dataclass(frozen=True, slots=True)
class PathSums:
    """The paths of one report: parent (``NOBODY`` at the top) and group of each, and sums; parents come first."""

    nodes: list[tuple[int, int]]
    sums: list[Sums]


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of the tree; ``parent`` is a place in the same list."""

    parent: int | None
    group: int
    sums: Sums


class RangeTree:
    """The paths of as many reports as are added, equal ones merged."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], int] = {}
        self._sums: list[Sums] = []

    def __len__(self) -> int:
        return len(self._sums)

    def add(self, paths: PathSums) -> None:
        """Add the paths of one report."""
        place_of = {NOBODY: NOBODY}
        for number, ((parent, group), added) in enumerate(zip(paths.nodes, paths.sums, strict=True)):
            key = (place_of[parent], group)
            place = self._places.setdefault(key, len(self._sums))
            if place == len(self._sums):
                self._sums.append((0, 0, 0))
            count, cpu_ns, gpu_ns = self._sums[place]
            self._sums[place] = (count + added[0], cpu_ns + added[1], gpu_ns + added[2])
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


def path_sums(times: RangeTimes, groups: Int64Array, totals_ns: Int64Array) -> PathSums:
    """The paths of these ranges with their sums; ``totals_ns`` is the GPU time launched before each call's place."""
    node_of, nodes = _paths(times, groups)
    gpu_ns = totals_ns[times.last_call] - totals_ns[times.first_call]
    counts = np.bincount(node_of, minlength=len(nodes))
    cpu_sums, gpu_sums = (summed(column, node_of, len(nodes)) for column in (times.end_ns - times.start_ns, gpu_ns))
    return PathSums(nodes, list(zip(counts.tolist(), cpu_sums.tolist(), gpu_sums.tolist(), strict=True)))


def _paths(times: RangeTimes, groups: Int64Array) -> tuple[Int64Array, list[tuple[int, int]]]:
    """The node of each range, and of each node its parent's number (``NOBODY`` at the top) and its group."""
    nodes: list[tuple[int, int]] = []
    node_of = np.full(len(times), NOBODY)
    group_count = int(groups.max(initial=0)) + 1
    by_parent = np.argsort(times.parent, kind="stable")
    parents = times.parent[by_parent]
    level = by_parent[: np.searchsorted(parents, NOBODY, side="right")]
    while len(level):
        above = np.where(times.parent[level] == NOBODY, NOBODY, node_of[times.parent[level]])
        unique, key_of = coded(above * group_count + groups[level])
        node_of[level] = len(nodes) + key_of
        nodes += zip(*(part.tolist() for part in np.divmod(unique, group_count)), strict=True)
        level = by_parent[_slices(np.searchsorted(parents, level), np.searchsorted(parents, level, side="right"))]
    return node_of, nodes


def _slices(first: Int64Array, last: Int64Array) -> Int64Array:
    """The places ``first[i]`` up to ``last[i]`` of all slices, one after the other."""
    counts = last - first
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places: Int64Array = np.repeat(first, counts) + within
    return places
