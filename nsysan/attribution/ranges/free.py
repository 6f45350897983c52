"""Start/end ranges: intervals that any thread may end, in any order, so that nothing is nested in them."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.launched_time import LaunchedTime
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.trace import PROCESS_BITS


class FreeRanges(msgspec.Struct, frozen=True, eq=False):
    """The start/end ranges of a report by row, with the GPU time that was launched in each.

    A call belongs to a range if it is the only one of the process that is open then. What was launched while several
    were open is ambiguous, and counts for each of them.
    """

    row: Int64Array
    gpu_ns: Int64Array
    ambiguous_gpu_ns: Int64Array


def free_ranges(host: Host, launched: LaunchedTime) -> FreeRanges:
    """The start/end ranges of the host, process by process; the calls of all threads of the process count."""
    rows = np.sort(host.unstacked_by_thread.rows)
    gpu_ns, ambiguous_ns = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    processes = host.ranges.global_tid[rows] & PROCESS_BITS
    for process in distinct(processes).tolist():
        own = np.flatnonzero(processes == process)
        calls = launched.of_process(process)
        start_ns = host.ranges.start_ns[rows[own]]
        end_ns = np.maximum(host.range_ends_ns[rows[own]], start_ns)
        alone = _open_count(start_ns, end_ns, calls.start_ns) == 1
        first, last = np.searchsorted(calls.start_ns, start_ns), np.searchsorted(calls.start_ns, end_ns)
        for found, chosen in ((gpu_ns, alone), (ambiguous_ns, ~alone)):
            total_ns = np.concatenate([[0], np.cumsum(np.where(chosen, calls.gpu_ns, 0))])
            found[own] = total_ns[last] - total_ns[first]
    return FreeRanges(rows, gpu_ns, ambiguous_ns)


def _open_count(start_ns: Int64Array, end_ns: Int64Array, times_ns: Int64Array) -> Int64Array:
    """How many of the intervals are open at each moment."""
    begun = np.searchsorted(np.sort(start_ns), times_ns, side="right")
    count: Int64Array = begun - np.searchsorted(np.sort(end_ns), times_ns, side="right")
    return count
