"""How much GPU time each call launched: a graph's launch has the time of all its kernels, and its own cost once."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.tables import Table
from nsysan.timeline.ordering import order_of

WindowedWork = tuple[Activities, tuple[int, int]]
"""Activities of one device, and the window at which they are cut."""


class LaunchingCalls(Table, frozen=True):
    """Calls that launched GPU work, in order of begin: when they began, and how much time the work takes."""

    start_ns: Int64Array
    gpu_ns: Int64Array

    def totals_ns(self) -> Int64Array:
        """The GPU time launched before each call and by all of them: one more value than there are calls."""
        totals_ns = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.gpu_ns, out=totals_ns[1:])
        return totals_ns


class LaunchedTime(msgspec.Struct, frozen=True, eq=False):
    """How much GPU time each call of the report of ``host`` launched, and which calls launched anything."""

    host: Host
    gpu_ns: Int64Array
    is_launching: BoolArray

    def of_thread(self, global_tid: int) -> LaunchingCalls:
        """The launching calls of one thread."""
        return self._calls(self.host.calls_by_thread.of(global_tid))

    def of_process(self, global_pid: int) -> LaunchingCalls:
        """The launching calls of all threads of a process."""
        calls = self._calls(self.host.calls_of_process(global_pid))
        return calls.take(order_of(calls.start_ns))

    def _calls(self, rows: IdArray) -> LaunchingCalls:
        launching = rows[self.is_launching[rows]]
        return LaunchingCalls(self.host.calls.start_ns[launching], self.gpu_ns[launching])


def launched_time(host: Host, work: Iterable[WindowedWork]) -> LaunchedTime:
    """The GPU time that each call launched, of this work inside its windows."""
    gpu_ns, is_launching = np.zeros(len(host.calls), np.int64), np.zeros(len(host.calls), np.bool_)
    for activities, window_ns in work:
        rows = host.launches.of(activities)
        durations_ns = activities.end_ns.clip(*window_ns) - activities.start_ns.clip(*window_ns)
        called = rows != NO_CALL
        if not called.all():
            rows, durations_ns = rows[called], durations_ns[called]
        np.add.at(gpu_ns, rows, durations_ns)
        is_launching[rows] = True
    return LaunchedTime(host, gpu_ns, is_launching)
