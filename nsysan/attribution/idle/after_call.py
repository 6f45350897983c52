"""Idle time after the call that launched the work ending the gap has returned."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.idle.gaps import EndedGaps
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.idle_pieces import GapPieces
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.model.thresholds import HANDOVER_NS, LONG_CALL_NS
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.intervals import Intervals, union
from nsysan.timeline.labelling import NOBODY, first_come


def pieces_after(gaps: EndedGaps, threads: HostThreads) -> GapPieces:
    """The pieces from the end of the calls on: up to 20 us of handing over, then loading of code or the device."""
    gaps = gaps.take(np.flatnonzero(gaps.end_ns > gaps.call_return_ns))
    tids = threads.host.calls.global_tid[gaps.call]
    handed_ns = np.minimum(gaps.call_return_ns + HANDOVER_NS, gaps.end_ns)
    had_returned = gaps.call_end_ns <= gaps.start_ns
    first_cause = np.where(had_returned, code_of(Cause.HANDOVER), code_of(Cause.LAUNCH_LATENCY))
    found = [GapPieces(gaps.call_return_ns, handed_ns, first_cause, tids, gaps.gap)]
    # the driver loads a function inside the call that launches it first: a short call has loaded nothing
    loads_function = (gaps.is_first_launch == 1) & (gaps.call_end_ns - gaps.call_start_ns > LONG_CALL_NS)
    processes = tids & PROCESS_BITS
    for process in distinct(processes).tolist():
        rows = np.flatnonzero((processes == process) & (gaps.end_ns > handed_ns))
        loads = _long_loads(threads, process)
        pieces = first_come(loads.start_ns, loads.end_ns).pieces(handed_ns[rows], gaps.end_ns[rows])
        of_gap = rows[pieces.asked]
        loading = (pieces.labels != NOBODY) | loads_function[of_gap]
        cause = np.where(loading, code_of(Cause.MODULE_LOADING), code_of(Cause.DEVICE_WAIT))
        found.append(GapPieces(pieces.start_ns, pieces.end_ns, cause, tids[of_gap], gaps.gap[of_gap]))
    return GapPieces.concatenate(found).solid()


def _long_loads(threads: HostThreads, process: int) -> Intervals:
    calls = threads.host.calls.take(threads.host.loads_by_process.of(process))
    is_long = calls.end_ns - calls.start_ns > LONG_CALL_NS
    return union(calls.start_ns[is_long], calls.end_ns[is_long])
