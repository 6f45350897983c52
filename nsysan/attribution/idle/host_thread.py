"""What one host thread was doing at each moment, as causes that an idle GPU may have."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from nsysan.attribution.grouping import RowsByKey, rows_by_key
from nsysan.attribution.host import Host
from nsysan.attribution.idle.call_causes import is_synchronising
from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.idle.overheads import overhead_causes, overhead_types
from nsysan.attribution.idle.range_causes import without_workplaces
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import coded
from nsysan.model.host_events import Overhead
from nsysan.model.idle import Cause
from nsysan.model.tables import OsCalls, ProfilerOverheads, SchedulingEvents
from nsysan.model.thresholds import LONG_CALL_NS
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.intervals import Intervals, Stretches, those_near, union
from nsysan.timeline.labelling import NOBODY, NOTHING_LABELLED, Labelling, first_come, innermost, overlaid

_NOTHING = np.empty(0, np.int64)
_LATEST = int(np.iinfo(np.int64).max)
_WAITS = re.compile(r"p?poll$|epoll_p?wait|p?select$|futex|pthread_cond_\w*wait|sem_\w*wait|p?readv?(64)?$|recv")
"""Calls in which a thread waits for another one, or for what it reads."""


class HostThreads:
    """The threads of one report, each looked at when it is first asked for."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._threads: dict[int, HostThread] = {}

    def of(self, global_tid: int) -> HostThread:
        """The thread of this serialized id."""
        if global_tid not in self._threads:
            self._threads[global_tid] = HostThread(self, global_tid)
        return self._threads[global_tid]

    def forget(self) -> None:
        """Drop what was worked out of single threads: it is as large as their calls, and quickly made again."""
        self._threads.clear()

    @cached_property
    def overheads(self) -> ProfilerOverheads:
        """The overhead rows, none where they were not recorded."""
        return self.host.trace.profiler_overheads or ProfilerOverheads(*[_NOTHING] * 5)

    @cached_property
    def overhead_types(self) -> Int64Array:
        """The ``Overhead`` of each overhead row."""
        return overhead_types(self.host.trace)

    @cached_property
    def overheads_by_thread(self) -> RowsByKey:
        """The overhead rows of each thread."""
        return rows_by_key(self.overheads.global_tid, self.overheads.start_ns)

    @cached_property
    def os_calls(self) -> OsCalls:
        """The calls of the operating system, none where they were not recorded."""
        return self.host.trace.os_calls or OsCalls(*[_NOTHING] * 4)

    @cached_property
    def os_calls_by_thread(self) -> RowsByKey:
        """The calls of the operating system of each thread."""
        return rows_by_key(self.os_calls.global_tid, self.os_calls.start_ns)

    @cached_property
    def os_waits(self) -> BoolArray:
        """Which of the operating system's calls are waits for another thread or for data."""
        name_ids, name_of = coded(self.os_calls.name_id)
        waits = [_WAITS.match(self.host.trace.text(name_id)) is not None for name_id in name_ids.tolist()]
        return np.array(waits, np.bool_)[name_of]

    @cached_property
    def scheduling(self) -> SchedulingEvents:
        """When threads came onto a core and left it, nothing where that was not recorded."""
        return self.host.trace.scheduling_events or SchedulingEvents(*[_NOTHING] * 3)

    @cached_property
    def scheduling_by_thread(self) -> RowsByKey:
        """The scheduling events of each thread."""
        return rows_by_key(self.scheduling.global_tid, self.scheduling.start_ns)

    def flushes(self, global_pid: int) -> Labelling:
        """Label 0 while the profiler flushes buffers on any thread of the process."""
        of_process = (self.overheads.global_tid & PROCESS_BITS) == global_pid
        rows = np.flatnonzero(of_process & (self.overhead_types == Overhead.BUFFER_FLUSH))
        found = union(self.overheads.start_ns[rows], self.overheads.end_ns[rows])
        return first_come(found.start_ns, found.end_ns).relabelled(np.zeros(len(found), np.int64))


class HostThread:
    """One thread: what it did over stretches of time, of which a GPU's gaps hold little."""

    def __init__(self, threads: HostThreads, global_tid: int) -> None:
        self._threads = threads
        self._host = threads.host
        self._global_tid = global_tid
        self._call_rows = self._host.calls_by_thread.of(global_tid)
        self._range_rows = self._host.stacked_by_thread.of(global_tid)

    def labels_over(self, asked: Stretches) -> Labelling:
        """The cause code at each moment of these stretches, as far as it does not depend on the gap.

        What no rule names has none; ``os_blocked`` is what the later rules refine.
        """
        layers = self.overhead_labels, self._range_labels, self._call_labels(self.calls_near(asked)), self._os_labels
        return overlaid(layers)

    def calls_near(self, asked: Stretches) -> Int64Array:
        """The rows of some CUDA calls of the thread in order of begin, among them all that overlap a stretch."""
        return self._call_rows[those_near(*self._call_bounds_ns, asked)]

    def ranges_near(self, asked: Stretches) -> Int64Array:
        """The rows of some push/pop ranges of the thread in order of begin, among them all that overlap a stretch."""
        return self._range_rows[those_near(*self._range_bounds_ns, asked)]

    @cached_property
    def overhead_labels(self) -> Labelling:
        """The profiler's rows of this thread, and long calls that stand still while it flushes buffers."""
        rows = self._threads.overheads_by_thread.of(self._global_tid)
        overheads, causes = self._threads.overheads, overhead_causes(self._threads.overhead_types)
        own = first_come(overheads.start_ns[rows], overheads.end_ns[rows]).relabelled(causes[rows])
        return overlaid([own, self._flushed_calls])

    @cached_property
    def activity_starts_ns(self) -> Int64Array:
        """The begin of each CUDA call and push of the thread, in order."""
        return np.sort(
            np.concatenate([self._host.calls.start_ns[self._call_rows], self._host.ranges.start_ns[self._range_rows]])
        )

    @cached_property
    def loads(self) -> Intervals:
        """The time in calls that load code."""
        rows = self._host.loads_by_thread.of(self._global_tid)
        return union(self._host.calls.start_ns[rows], self._host.calls.end_ns[rows])

    @cached_property
    def waits_for_gpu(self) -> tuple[Int64Array, Int64Array]:
        """Begins, in order, of the calls that wait for the GPU, and the latest end of these up to each."""
        rows = self._host.waits_by_thread.of(self._global_tid)
        return self._host.calls.start_ns[rows], np.maximum.accumulate(self._host.calls.end_ns[rows])

    def innermost_ranges(self, asked: Stretches) -> Labelling:
        """The row of the innermost push/pop range at each moment of these stretches."""
        rows = self.ranges_near(asked)
        return innermost(self._host.ranges.start_ns[rows], self._host.range_ends_ns[rows]).relabelled(rows)

    @cached_property
    def waits_in_os(self) -> Intervals:
        """The time in calls of the operating system that wait for another thread or for data."""
        rows = self._threads.os_calls_by_thread.of(self._global_tid)
        rows = rows[self._threads.os_waits[rows]]
        return union(self._threads.os_calls.start_ns[rows], self._threads.os_calls.end_ns[rows])

    @property
    def _range_labels(self) -> Labelling:
        host = self._host
        rows = host.named_by_thread.of(self._global_tid)
        if not len(rows):
            return NOTHING_LABELLED
        start_ns, end_ns = host.ranges.start_ns[rows], np.maximum(host.range_ends_ns[rows], host.ranges.start_ns[rows])
        launches_ns = host.calls.start_ns[self._call_rows[host.launching[self._call_rows]]]
        spans = np.searchsorted(launches_ns, start_ns), np.searchsorted(launches_ns, end_ns)
        groups = host.range_groups.of_row[rows]
        codes = without_workplaces(host.range_causes[rows], groups, spans, len(launches_ns))
        named = codes != NOBODY
        return innermost(start_ns[named], end_ns[named]).relabelled(codes[named])

    @cached_property
    def _call_bounds_ns(self) -> tuple[Int64Array, Int64Array]:
        """Begins of the calls, in order, and the latest end up to each."""
        calls = self._host.calls
        return calls.start_ns[self._call_rows], np.maximum.accumulate(calls.end_ns[self._call_rows])

    @cached_property
    def _range_bounds_ns(self) -> tuple[Int64Array, Int64Array]:
        """Begins of the push/pop ranges, in order, and the latest end up to each."""
        ends_ns = self._host.range_ends_ns[self._range_rows]
        return self._host.ranges.start_ns[self._range_rows], np.maximum.accumulate(ends_ns)

    def _call_labels(self, rows: Int64Array) -> Labelling:
        rows = rows[self._host.call_causes[rows] != NOBODY]
        found = first_come(self._host.calls.start_ns[rows], self._host.calls.end_ns[rows])
        return found.relabelled(self._host.call_causes[rows])

    @property
    def _os_labels(self) -> Labelling:
        threads = self._threads
        calls = threads.os_calls_by_thread.of(self._global_tid)
        events = threads.scheduling_by_thread.of(self._global_tid)
        times_ns = threads.scheduling.start_ns[events]
        # off the core until the next event of the thread, whatever that is
        leaves = threads.scheduling.is_on_core[events] == 0
        off_end_ns = np.append(times_ns[1:], _LATEST)[: len(times_ns)]
        starts_ns = np.concatenate([threads.os_calls.start_ns[calls], times_ns[leaves]])
        blocked = union(starts_ns, np.concatenate([threads.os_calls.end_ns[calls], off_end_ns[leaves]]))
        code = np.full(len(blocked), code_of(Cause.OS_BLOCKED))
        return first_come(blocked.start_ns, blocked.end_ns).relabelled(code)

    @property
    def _flushed_calls(self) -> Labelling:
        flushes = self._threads.flushes(self._global_tid & PROCESS_BITS)
        if not len(flushes.bounds_ns):
            return NOTHING_LABELLED
        start_ns, end_ns = self._host.calls.start_ns[self._call_rows], self._host.calls.end_ns[self._call_rows]
        held = (end_ns - start_ns > LONG_CALL_NS) & ~is_synchronising(self._host.kinds[self._call_rows])
        long_calls = union(start_ns[held], end_ns[held])
        pieces = flushes.pieces(long_calls.start_ns, long_calls.end_ns)
        flushed = pieces.labels != NOBODY
        code = np.full(int(flushed.sum()), code_of(Cause.PROFILER_OVERHEAD))
        return first_come(pieces.start_ns[flushed], pieces.end_ns[flushed]).relabelled(code)
