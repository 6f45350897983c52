"""How much GPU time each call launched: a graph's launch has the time of all its kernels, and its own cost once."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import Int64Array
from nsysan.model.tables import Table

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
    """The launching calls of one report in order of thread and begin: of ``threads[i]`` from ``bounds[i]`` on."""

    threads: Int64Array
    bounds: Int64Array
    calls: LaunchingCalls

    def of_thread(self, global_tid: int) -> LaunchingCalls:
        """The calls of one thread."""
        place = int(np.searchsorted(self.threads, global_tid))
        is_there = place < len(self.threads) and self.threads[place] == global_tid
        span = slice(self.bounds[place], self.bounds[place + 1]) if is_there else slice(0, 0)
        return LaunchingCalls(self.calls.start_ns[span], self.calls.gpu_ns[span])


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
    by_thread = host.calls_by_thread
    launched = is_launching[by_thread.rows]
    rows = by_thread.rows[launched]
    bounds = np.concatenate([[0], np.cumsum(launched)])[by_thread.bounds]
    return LaunchedTime(by_thread.keys, bounds, LaunchingCalls(host.calls.start_ns[rows], gpu_ns[rows]))
