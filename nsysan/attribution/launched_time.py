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
    """Calls that launched GPU work: when they began, how much time the work takes, and how many records it has."""

    start_ns: Int64Array
    gpu_ns: Int64Array
    work_count: Int64Array


class LaunchedTime(msgspec.Struct, frozen=True, eq=False):
    """The launching calls of one report in order of thread and begin: of ``threads[i]`` from ``bounds[i]`` on."""

    threads: Int64Array
    bounds: Int64Array
    calls: LaunchingCalls

    def of_thread(self, global_tid: int) -> tuple[int, LaunchingCalls]:
        """The calls of one thread, and the place of the first of them."""
        place = int(np.searchsorted(self.threads, global_tid))
        if place == len(self.threads) or self.threads[place] != global_tid:
            return len(self.calls), self.calls.take(np.empty(0, np.int64))
        first, last = int(self.bounds[place]), int(self.bounds[place + 1])
        return first, LaunchingCalls(**{name: column[first:last] for name, column in self.calls.columns().items()})

    def totals_ns(self) -> Int64Array:
        """The GPU time launched before each place: one more value than there are calls."""
        return np.concatenate([[0], np.cumsum(self.calls.gpu_ns)])


def launched_time(host: Host, work: Iterable[WindowedWork]) -> LaunchedTime:
    """The GPU time that each call launched, of this work inside its windows."""
    gpu_ns, work_count = np.zeros(len(host.calls), np.int64), np.zeros(len(host.calls), np.int64)
    for activities, window_ns in work:
        rows = host.launches.of(activities)
        called = rows != NO_CALL
        duration_ns = activities.end_ns.clip(*window_ns) - activities.start_ns.clip(*window_ns)
        np.add.at(gpu_ns, rows[called], duration_ns[called])
        np.add.at(work_count, rows[called], 1)
    by_thread = host.calls_by_thread
    launched = work_count[by_thread.rows] > 0
    rows = by_thread.rows[launched]
    calls = LaunchingCalls(host.calls.start_ns[rows], gpu_ns[rows], work_count[rows])
    return LaunchedTime(by_thread.keys, np.concatenate([[0], np.cumsum(launched)])[by_thread.bounds], calls)
