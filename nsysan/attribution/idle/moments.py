"""What one host thread was in at a moment, by name: calls and ranges, the one that began first first."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.model.tables import Int64Array


def calls_at(host: Host, global_tid: int, time_ns: int) -> list[str]:
    """The names of the CUDA calls that the thread is in."""
    rows = _holding(host.calls_by_thread.of(global_tid), host.calls.start_ns, host.calls.end_ns, time_ns)
    return [host.trace.text(name_id) for name_id in host.calls.name_id[rows].tolist()]


def os_calls_at(threads: HostThreads, global_tid: int, time_ns: int) -> list[str]:
    """The names of the operating system's calls that the thread is in."""
    calls = threads.os_calls
    rows = _holding(threads.os_calls_by_thread.of(global_tid), calls.start_ns, calls.end_ns, time_ns)
    return [threads.host.trace.text(name_id) for name_id in calls.name_id[rows].tolist()]


def ranges_at(host: Host, global_tid: int, time_ns: int) -> list[str]:
    """The texts of the push/pop ranges that the thread is in."""
    rows = _holding(host.stacked_by_thread.of(global_tid), host.ranges.start_ns, host.range_ends_ns, time_ns)
    return [host.trace.text(name_id) for name_id in host.ranges.name_id[rows].tolist()]


def _holding(rows: Int64Array, start_ns: Int64Array, end_ns: Int64Array, time_ns: int) -> Int64Array:
    """Those of the rows that hold at the moment, in order of begin, of equal begins the longest first."""
    rows = rows[(start_ns[rows] <= time_ns) & (end_ns[rows] > time_ns)]
    return rows[np.lexsort((-end_ns[rows], start_ns[rows]))]
