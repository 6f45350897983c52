"""Sums over the NVTX ranges of a report, by the name that they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.launched_time import LaunchedTime
from nsysan.attribution.ranges.details import categories_by_group, with_category
from nsysan.attribution.ranges.free import free_ranges
from nsysan.attribution.ranges.groups import GroupNumbers, ShapeNumbers, shapes_told
from nsysan.attribution.ranges.shares import own_shares
from nsysan.attribution.ranges.times import range_times
from nsysan.attribution.ranges.tree import PathSums, path_sums
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import coded, first_rows, summed
from nsysan.model.tables import ABSENT, NvtxRanges, Table
from nsysan.timeline.intervals import Stretches
from nsysan.timeline.labelling import NOBODY, Pieces


class RangeSums(Table, frozen=True):
    """What ranges add to the sums of their ``group``: each one, or all of one text."""

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
    """Sums by group, over as many threads and reports as are added."""

    def __init__(self) -> None:
        self._sums: defaultdict[int, dict[str, int]] = defaultdict(
            lambda: {name: 0 for name in RangeSums.__struct_fields__ if name != "group"}
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


class ReportRanges(msgspec.Struct, frozen=True, eq=False):
    """The ranges of one report: CPU time inside the bounds, GPU time of what was launched."""

    threads: HostThreads
    launched: LaunchedTime
    bounds_ns: tuple[int, int]
    numbers: GroupNumbers

    def stacked(self) -> Iterator[StackedRanges]:
        """The push/pop ranges of each thread."""
        for thread in self.threads.host.stacked_by_thread.keys.tolist():
            yield _stacked_ranges(self, thread)

    def starved(self, idle: IdlePieces) -> Iterator[RangeSums]:
        """Of each thread what of these idle pieces, which waited for it, goes to its innermost range."""
        host = self.threads.host
        for thread in host.stacked_by_thread.keys.tolist():
            own = idle.take(idle.global_tid == thread)
            pieces = self._innermost_ranges(thread, (own.start_ns, own.end_ns))
            inside = pieces.labels != NOBODY
            nothing = np.broadcast_to(np.int64(0), int(inside.sum()))
            sums = dict.fromkeys(RangeSums.__struct_fields__, nothing)
            sums["group"] = self.numbers.of_ranges(host, pieces.labels[inside])
            sums["launch_starved_ns"] = (pieces.end_ns - pieces.start_ns)[inside]
            yield RangeSums(**sums)

    def _innermost_ranges(self, thread: int, asked: Stretches) -> Pieces:
        """The stretches cut where the thread's innermost range changes, each piece with its row."""
        found = self.threads.of(thread).innermost_ranges(asked).pieces(*asked)
        self.threads.forget()
        return found

    def categories(self) -> dict[int, set[str]]:
        """The names of the categories that push/pop and start/end ranges of a group bear."""
        host = self.threads.host
        bearing = with_category(host.trace)
        if bearing is None:
            return {}
        return categories_by_group(host.trace, bearing, self.numbers.of_ranges(host, bearing.row))

    def free_sums(self) -> RangeSums:
        """What each start/end range adds."""
        host = self.threads.host
        found = free_ranges(host, self.launched)
        start_ns, end_ns = host.ranges.start_ns[found.row], host.range_ends_ns[found.row]
        nothing = np.zeros(len(found.row), np.int64)
        return RangeSums(
            **_counts(host.ranges, found.row),
            group=self.numbers.of_ranges(host, found.row),
            cpu_total_ns=np.maximum(end_ns, start_ns).clip(*self.bounds_ns) - start_ns.clip(*self.bounds_ns),
            cpu_self_ns=nothing,
            gpu_total_ns=found.gpu_ns,
            gpu_self_ns=nothing,
            ambiguous_gpu_ns=found.ambiguous_gpu_ns,
            launch_starved_ns=nothing,
        )


class StackedRanges(msgspec.Struct, frozen=True, eq=False):
    """The push/pop ranges of one thread: of each text the first row and what it adds to its name, and their paths."""

    row: IdArray
    sums: RangeSums
    paths: PathSums

    def by_shape(self, host: Host, shapes: ShapeNumbers) -> RangeSums:
        """Of what the ranges add, that of operators whose text tells shapes, by the number of these."""
        told = shapes_told(host, self.row)
        number_of = shapes.of_ranges(host, self.row[told], self.sums.group[told])
        parsed = number_of != NOBODY
        return RangeSums(**{**self.sums.take(told[parsed]).columns(), "group": number_of[parsed]})


def _stacked_ranges(ranges: ReportRanges, thread: int) -> StackedRanges:
    host, calls = ranges.threads.host, ranges.launched.of_thread(thread)
    totals_ns, range_count = calls.totals_ns(), len(host.ranges)
    times = range_times(host, thread, calls, totals_ns, ranges.bounds_ns)
    # ranges are many, and their texts few
    text_of = codes_of(host.ranges.domain_id[times.row], host.ranges.name_id[times.row])
    row = times.row[first_rows(text_of)]
    group = ranges.numbers.of_ranges(host, row)
    groups = group[text_of]
    shares = own_shares(times, groups, totals_ns, range_count)
    nothing = np.broadcast_to(np.int64(0), len(row))
    columns = {
        **_counts(host.ranges, times.row),
        "cpu_total_ns": shares.cpu_ns,
        "cpu_self_ns": times.cpu_self_ns,
        "gpu_total_ns": shares.gpu_ns,
        "gpu_self_ns": times.gpu_self_ns,
    }
    sums = {name: summed(column, text_of, len(row)) for name, column in columns.items()}
    return StackedRanges(
        row,
        RangeSums(**sums, group=group, ambiguous_gpu_ns=nothing, launch_starved_ns=nothing),
        path_sums(times, groups, totals_ns, range_count),
    )


def _counts(ranges: NvtxRanges, rows: Int64Array) -> dict[str, Int64Array]:
    return {
        "count": np.broadcast_to(np.int64(1), len(rows)),
        "open_count": (ranges.end_ns[rows] == ABSENT).astype(np.int64),
        "begun_before_count": (ranges.start_ns[rows] < 0).astype(np.int64),
    }
