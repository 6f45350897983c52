"""Sums over the NVTX ranges of a report, by the name that they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.launched_time import LaunchedTime
from nsysan.attribution.ranges.details import categories_by_group, with_category
from nsysan.attribution.ranges.free import free_ranges
from nsysan.attribution.ranges.groups import GroupNumbers, OwnShare, ShapeNumbers, own_shares, tells_shapes
from nsysan.attribution.ranges.times import RangeTimes, range_times
from nsysan.attribution.ranges.tree import PathSums, path_sums
from nsysan.model.distinct import coded, distinct, summed
from nsysan.model.tables import ABSENT, Int64Array, Table
from nsysan.timeline.labelling import NOBODY


@dataclass(frozen=True, slots=True, eq=False)
class RangeSums(Table):
    """What each range adds to the sums of its ``group``."""

    group: Int64Array
    count: Int64Array
    open_count: Int64Array
    begun_before_count: Int64Array
    cpu_total_ns: Int64Array
    cpu_self_ns: Int64Array
    gpu_total_ns: Int64Array
    gpu_self_ns: Int64Array
    ambiguous_gpu_ns: Int64Array
    launch_starved_ns: Int64Array


class SumsByGroup:
    """Sums by group, over as many reports as are added."""

    def __init__(self) -> None:
        self._sums: defaultdict[int, dict[str, int]] = defaultdict(
            lambda: {field.name: 0 for field in fields(RangeSums) if field.name != "group"}
        )

    def add(self, ranges: RangeSums) -> None:
        """Add what each of the ranges has."""
        groups, group_of = coded(ranges.group)
        for name, column in ranges.columns().items():
            if name != "group":
                sums = summed(column, group_of, len(groups)).tolist()
                for group, value in zip(groups.tolist(), sums, strict=True):
                    self._sums[group][name] += value

    def rows(self) -> Iterator[tuple[int, dict[str, int]]]:
        """Each group with its sums by name."""
        yield from self._sums.items()


class ReportRanges:
    """The ranges of one report: CPU time inside the bounds, GPU time of what was launched."""

    def __init__(
        self, threads: HostThreads, launched: LaunchedTime, bounds_ns: tuple[int, int], numbers: GroupNumbers
    ) -> None:
        self._threads = threads
        self._host = threads.host
        self._launched = launched
        self._bounds_ns = bounds_ns
        self._numbers = numbers

    def stacked_sums(self, starved: IdlePieces) -> RangeSums:
        """What each push/pop range adds; ``starved`` is idle time that goes to the innermost range of its thread."""
        times, shares = self._times, self._shares
        starved_ns = np.zeros(len(self._host.ranges), np.int64)
        for tid in distinct(starved.global_tid).tolist():
            own = starved.take(starved.global_tid == tid)
            pieces = self._threads.of(tid).innermost_ranges.pieces(own.start_ns, own.end_ns)
            inside = pieces.labels != NOBODY
            np.add.at(starved_ns, pieces.labels[inside], (pieces.end_ns - pieces.start_ns)[inside])
        self._threads.forget()
        return RangeSums(
            **self._counts(times.row),
            group=self._groups,
            cpu_total_ns=shares.cpu_ns,
            cpu_self_ns=times.cpu_self_ns,
            gpu_total_ns=shares.gpu_ns,
            gpu_self_ns=times.gpu_self_ns,
            ambiguous_gpu_ns=np.zeros(len(times), np.int64),
            launch_starved_ns=starved_ns[times.row],
        ).narrowed()

    def by_shape(self, sums: RangeSums, shapes: ShapeNumbers) -> RangeSums:
        """Of what push/pop ranges add, that of operators whose text tells shapes, by the number of these."""
        told = np.flatnonzero(tells_shapes(self._host, self._times.row))
        number_of = shapes.of_ranges(self._host, self._times.row[told], self._groups[told])
        parsed = number_of != NOBODY
        return RangeSums(**{**sums.take(told[parsed]).columns(), "group": number_of[parsed]})

    def categories(self) -> dict[int, set[str]]:
        """The names of the categories that push/pop and start/end ranges of a group bear."""
        bearing = with_category(self._host.trace)
        if bearing is None:
            return {}
        return categories_by_group(self._host.trace, bearing, self._numbers.of_ranges(self._host, bearing.row))

    def free_sums(self) -> RangeSums:
        """What each start/end range adds."""
        found = free_ranges(self._host, self._launched)
        start_ns, end_ns = self._host.ranges.start_ns[found.row], self._host.range_ends_ns[found.row]
        nothing = np.zeros(len(found.row), np.int64)
        return RangeSums(
            **self._counts(found.row),
            group=self._numbers.of_ranges(self._host, found.row),
            cpu_total_ns=np.maximum(end_ns, start_ns).clip(*self._bounds_ns) - start_ns.clip(*self._bounds_ns),
            cpu_self_ns=nothing,
            gpu_total_ns=found.gpu_ns,
            gpu_self_ns=nothing,
            ambiguous_gpu_ns=found.ambiguous_gpu_ns,
            launch_starved_ns=nothing,
        )

    def paths(self) -> PathSums:
        """The push/pop ranges by path."""
        return path_sums(self._times, self._groups, self._launched.totals_ns())

    @cached_property
    def _times(self) -> RangeTimes:
        return range_times(self._host, self._launched, self._bounds_ns)

    @cached_property
    def _groups(self) -> Int64Array:
        return self._numbers.of_ranges(self._host, self._times.row)

    @cached_property
    def _shares(self) -> OwnShare:
        threads = self._host.ranges.global_tid[self._times.row]
        return own_shares(self._times, self._groups, threads, self._launched.totals_ns())

    def _counts(self, rows: Int64Array) -> dict[str, Int64Array]:
        ranges = self._host.ranges
        return {
            "count": np.ones(len(rows), np.int64),
            "open_count": (ranges.end_ns[rows] == ABSENT).astype(np.int64),
            "begun_before_count": (ranges.start_ns[rows] < 0).astype(np.int64),
        }
