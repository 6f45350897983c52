"""What the host of one report did, in the order of its threads: calls, ranges, waits, and which work they launched."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from nsysan.attribution.cuda_calls import CallKind, call_kinds, is_any
from nsysan.attribution.grouping import RowsByKey, chosen_by_key, codes_of, rows_by_key
from nsysan.attribution.idle.call_causes import call_causes, is_wait_for_gpu
from nsysan.attribution.idle.range_causes import causes_of_groups
from nsysan.attribution.launch import NO_CALL, Launches, join_launches
from nsysan.attribution.ranges.names import NameGroups, name_groups
from nsysan.attribution.sound_records import without_damaged
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.distinct import coded
from nsysan.model.host_events import STACKED
from nsysan.model.tables import ABSENT, NvtxRanges, RuntimeCalls
from nsysan.model.trace import PROCESS_BITS, Trace
from nsysan.timeline.labelling import NOBODY
from nsysan.timeline.ordering import order_of

_NOTHING = np.empty(0, np.int64)
_PROFILER_CALL = re.compile(r"cu(da)?Profiler(Start|Stop)")


class Host:
    """The host's side of one trace, as far as its times can be; each part is worked out when first asked for."""

    def __init__(self, trace: Trace) -> None:
        self.trace = without_damaged(trace)

    @cached_property
    def calls(self) -> RuntimeCalls:
        """The CUDA calls, none where they were not recorded."""
        return self.trace.runtime_calls or RuntimeCalls(*[_NOTHING] * 6)

    @cached_property
    def launches(self) -> Launches:
        """The call behind each record of GPU work."""
        return join_launches(self.trace)

    @cached_property
    def kinds(self) -> IdArray:
        """The ``CallKind`` of each call."""
        return call_kinds(self.trace)

    @cached_property
    def profiler_calls(self) -> Int64Array:
        """The calls that started or stopped the profiler."""
        name_ids, name_of = coded(self.calls.name_id)
        named = [_PROFILER_CALL.match(self.trace.text(name_id)) is not None for name_id in name_ids.tolist()]
        return np.flatnonzero(np.array(named, np.bool_)[name_of])

    def processes_of(self, calls: Int64Array) -> Int64Array:
        """The global pid of each of these calls."""
        processes: Int64Array = self.calls.global_tid[calls] & PROCESS_BITS
        return processes

    def calls_of(self, global_pid: int, *kinds: CallKind) -> Int64Array:
        """The calls of a process that are of one of these kinds."""
        rows = np.flatnonzero(is_any(self.kinds, kinds))
        own: Int64Array = rows[self.processes_of(rows) == global_pid]
        return own

    @cached_property
    def calls_by_thread(self) -> RowsByKey:
        """The calls of each thread in order of begin."""
        return rows_by_key(self.calls.global_tid, self.calls.start_ns)

    @cached_property
    def launching(self) -> BoolArray:
        """Which calls launched something."""
        launched = np.zeros(len(self.calls), np.bool_)
        for rows in self.launches.rows.values():
            launched[rows[rows != NO_CALL]] = True
        return launched

    def launches_ns_of(self, global_pid: int) -> Int64Array:
        """When each call of a process began that launched something, in order."""
        rows = self.calls_of_process(global_pid)
        return np.sort(self.calls.start_ns[rows[self.launching[rows]]], kind="stable")

    def calls_of_process(self, global_pid: int) -> IdArray:
        """The calls of a process, thread by thread."""
        by_thread = self.calls_by_thread
        threads = by_thread.keys[by_thread.keys & PROCESS_BITS == global_pid].tolist()
        return np.concatenate([_NOTHING, *map(by_thread.of, threads)])

    @property
    def kernels_launched_ns(self) -> Int64Array:
        """When the call began that launched each kernel; when the kernel itself did, where it has none."""
        kernels = self.trace.kernels
        if kernels is None:
            return _NOTHING
        rows = self.launches.rows["kernels"]
        return np.where(rows == NO_CALL, kernels.start_ns, self._call_starts_ns[rows])

    @cached_property
    def first_launches(self) -> BoolArray:
        """Which kernels are the first of their function on their process' device, in order of launch."""
        kernels = self.trace.kernels
        if kernels is None or not len(kernels):
            return np.empty(0, np.bool_)
        function = codes_of(kernels.global_pid, kernels.device_id, kernels.name_id)
        launched_ns = self.kernels_launched_ns
        earliest_ns = np.full(int(function.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(earliest_ns, function, launched_ns)
        earliest = np.flatnonzero(launched_ns == earliest_ns[function])
        # a graph launches many at once, of which the one that ran first counts
        earliest = earliest[order_of(function[earliest], kernels.start_ns[earliest])]
        is_first = np.zeros(len(kernels), np.bool_)
        is_first[earliest[np.diff(function[earliest], prepend=-1) != 0]] = True
        return is_first

    @cached_property
    def call_causes(self) -> IdArray:
        """The cause code of each call, as far as its name and length tell one."""
        launches_first = np.zeros(len(self.calls), np.bool_)
        if self.trace.kernels is not None:
            rows = self.launches.rows["kernels"][self.first_launches]
            launches_first[rows[rows != NO_CALL]] = True
        return call_causes(self.calls, self.kinds, self.calls_by_thread, launches_first)

    @cached_property
    def ranges(self) -> NvtxRanges:
        """The NVTX ranges, none where they were not recorded."""
        return self.trace.nvtx_ranges or NvtxRanges(*[_NOTHING] * 7)

    @cached_property
    def range_ends_ns(self) -> Int64Array:
        """The end of each range; one that was still open ends with the trace."""
        ranges = self.ranges
        latest_ns = max(int(ranges.start_ns.max(initial=0)), int(ranges.end_ns.max(initial=0)))
        latest_ns = max(latest_ns, int(self.calls.end_ns.max(initial=0)), self.trace.capture_ns or 0)
        is_open = ranges.end_ns == ABSENT
        return np.where(is_open, latest_ns, ranges.end_ns) if is_open.any() else ranges.end_ns

    @cached_property
    def stacked_by_thread(self) -> RowsByKey:
        """The push/pop ranges of each thread in order of begin."""
        return self._by_thread(np.isin(self.ranges.event_type, STACKED))

    @cached_property
    def unstacked_by_thread(self) -> RowsByKey:
        """The start/end ranges that each thread began, in order of begin; they may end on any thread."""
        return self._by_thread(~np.isin(self.ranges.event_type, STACKED))

    @cached_property
    def range_groups(self) -> NameGroups:
        """The ranges by the name that they share."""
        return name_groups(self.trace, self.ranges.name_id)

    @cached_property
    def range_causes(self) -> IdArray:
        """The cause code of each range, as far as its name tells one."""
        causes = causes_of_groups(self.range_groups)
        return causes[self.range_groups.of_row]

    @cached_property
    def loads_by_process(self) -> RowsByKey:
        """The calls that load code, of each process."""
        rows = np.flatnonzero(self.kinds == CallKind.LOAD)
        grouped = rows_by_key(self.processes_of(rows), self.calls.start_ns[rows])
        return RowsByKey(grouped.keys, grouped.bounds, rows[grouped.rows])

    @cached_property
    def loads_by_thread(self) -> RowsByKey:
        """The calls that load code, of each thread."""
        return chosen_by_key(np.flatnonzero(self.kinds == CallKind.LOAD), self.calls.global_tid, self.calls.start_ns)

    @cached_property
    def waits_by_thread(self) -> RowsByKey:
        """The calls that wait for the GPU, of each thread."""
        rows = np.flatnonzero(is_wait_for_gpu(self.kinds, self.call_causes))
        return chosen_by_key(rows, self.calls.global_tid, self.calls.start_ns)

    @cached_property
    def named_by_thread(self) -> RowsByKey:
        """The push/pop ranges of each thread whose names stand for a cause."""
        rows = np.flatnonzero(self.range_causes != NOBODY)
        stacked = rows[np.isin(self.ranges.event_type[rows], STACKED)]
        return chosen_by_key(stacked, self.ranges.global_tid, self.ranges.start_ns)

    def _by_thread(self, chosen: BoolArray) -> RowsByKey:
        if chosen.all():
            return rows_by_key(self.ranges.global_tid, self.ranges.start_ns)
        return chosen_by_key(np.flatnonzero(chosen), self.ranges.global_tid, self.ranges.start_ns)

    @property
    def _call_starts_ns(self) -> Int64Array:
        # a row of NO_CALL reads the last one, which is then not used
        return self.calls.start_ns if len(self.calls) else np.zeros(1, np.int64)
