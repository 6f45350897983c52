"""Idle time before the call that ended the gap began: it belongs to a host thread, by what that was doing."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.idle.gaps import EndedGaps
from nsysan.attribution.idle.host_thread import HostThread, HostThreads
from nsysan.attribution.idle.idle_pieces import GapPieces
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.model.tables import ABSENT, Table
from nsysan.model.thresholds import HANDOVER_NS, LOADER_GAP_NS, LONGEST_RESTART_NS
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.intervals import Intervals, union
from nsysan.timeline.labelling import NOBODY

_NEVER = int(np.iinfo(np.int64).min)


class _HostParts(Table, frozen=True):
    """Stretches of gaps before the call, each with the thread that the GPU waits for; ``row`` is the gap's."""

    start_ns: Int64Array
    end_ns: Int64Array
    row: Int64Array
    global_tid: Int64Array


def pieces_before(gaps: EndedGaps, threads: HostThreads) -> GapPieces:
    """The pieces of the gaps up to the begin of their calls."""
    gaps = gaps.take(np.flatnonzero(gaps.call_begin_ns > gaps.start_ns))
    if not len(gaps):
        return GapPieces.concatenate([])
    calling_tid = threads.host.calls.global_tid[gaps.call]
    parts = _host_parts(gaps, calling_tid, threads)
    loaded_ns = _loaded_until(gaps, calling_tid, threads)
    restart_ns = _restart(gaps, calling_tid, threads)
    blocked = np.where(_waits_for_batch(gaps, parts, loaded_ns, threads), *map(code_of, _BLOCKED))
    found = [_pieces_of(parts, tid, threads) for tid in distinct(parts.global_tid).tolist()]
    pieces = GapPieces.concatenate(found)
    row = pieces.gap
    return _refined(pieces, loaded_ns[row], restart_ns[row], blocked[row], gaps.gap[row])


_BLOCKED = (Cause.DATA_LOADING, Cause.OS_BLOCKED)


def _host_parts(gaps: EndedGaps, calling_tid: Int64Array, threads: HostThreads) -> _HostParts:
    """The previous thread's time up to the first call or push of the calling thread in the gap, then the latter's."""
    begin_ns = gaps.call_begin_ns
    handed_ns = gaps.start_ns.copy()
    other = np.flatnonzero((gaps.previous_tid != ABSENT) & (gaps.previous_tid != calling_tid))
    for tid in distinct(calling_tid[other]).tolist():
        rows = other[calling_tid[other] == tid]
        starts_ns = np.append(threads.of(tid).activity_starts_ns, np.iinfo(np.int64).max)
        handed_ns[rows] = np.minimum(starts_ns[np.searchsorted(starts_ns, gaps.start_ns[rows])], begin_ns[rows])
    rows = np.arange(len(gaps))
    before = _HostParts(gaps.start_ns, handed_ns, rows, gaps.previous_tid)
    after = _HostParts(handed_ns, begin_ns, rows, calling_tid)
    parts = _HostParts.concatenate([before, after])
    return parts.take(np.flatnonzero(parts.end_ns > parts.start_ns))


def _pieces_of(parts: _HostParts, tid: int, threads: HostThreads) -> GapPieces:
    """The parts of one thread, cut by what it was doing; ``gap`` is still the row of the gap."""
    own = parts.take(parts.global_tid == tid)
    pieces = threads.of(tid).labels_over((own.start_ns, own.end_ns)).pieces(own.start_ns, own.end_ns)
    tids = np.full(len(pieces.asked), tid)
    return GapPieces(pieces.start_ns, pieces.end_ns, pieces.labels, tids, own.row[pieces.asked])


def _loaded_until(gaps: EndedGaps, calling_tid: Int64Array, threads: HostThreads) -> Int64Array:
    """The end of the last load of code in each gap, its begin where there is none.

    Loads of the two threads count, and those of any thread where the work is its function's first launch.
    """
    begin_ns = gaps.call_begin_ns
    loaded_ns = gaps.start_ns.copy()
    for tids in (calling_tid, gaps.previous_tid):
        for tid in distinct(tids[tids != ABSENT]).tolist():
            rows = np.flatnonzero(tids == tid)
            loaded_ns[rows] = np.maximum(loaded_ns[rows], _last_end(threads.of(tid).loads, begin_ns[rows]))
    processes = calling_tid & PROCESS_BITS
    for process in distinct(processes[gaps.is_first_launch == 1]).tolist():
        rows = np.flatnonzero((processes == process) & (gaps.is_first_launch == 1))
        calls = threads.host.calls.take(threads.host.loads_by_process.of(process))
        loads = union(calls.start_ns, calls.end_ns)
        loaded_ns[rows] = np.maximum(loaded_ns[rows], _last_end(loads, begin_ns[rows]))
    return np.minimum(loaded_ns, begin_ns)


def _last_end(intervals: Intervals, times_ns: Int64Array) -> Int64Array:
    """The end of the last interval that began before each moment."""
    ends_ns = np.concatenate([[_NEVER], intervals.end_ns])
    return ends_ns[np.searchsorted(intervals.start_ns, times_ns)]


def _restart(gaps: EndedGaps, calling_tid: Int64Array, threads: HostThreads) -> Int64Array:
    """From when on the thread refills the GPU after a wait for it; the call's begin where it does not.

    The wait began before the gap and ended no earlier than 20 us before it; the refill takes 1 ms at most. Where both
    threads waited so, the earlier end counts.
    """
    restart_ns = gaps.call_begin_ns
    for tids in (calling_tid, gaps.previous_tid):
        for tid in distinct(tids[tids != ABSENT]).tolist():
            rows = np.flatnonzero(tids == tid)
            ended_ns = _last_wait(threads.of(tid), gaps.start_ns[rows])
            earliest_ns = np.maximum(gaps.start_ns[rows] - HANDOVER_NS, gaps.call_start_ns[rows] - LONGEST_RESTART_NS)
            restart_ns[rows] = np.where(
                ended_ns >= earliest_ns, np.minimum(restart_ns[rows], ended_ns), restart_ns[rows]
            )
    return restart_ns


def _last_wait(thread: HostThread, times_ns: Int64Array) -> Int64Array:
    """The latest end of the thread's waits for the GPU that began before each moment."""
    starts_ns, ends_ns = thread.waits_for_gpu
    return np.concatenate([[_NEVER], ends_ns])[np.searchsorted(starts_ns, times_ns)]


def _waits_for_batch(gaps: EndedGaps, parts: _HostParts, loaded_ns: Int64Array, threads: HostThreads) -> BoolArray:
    """Which gaps' waits in the operating system are waits for data, as far as one can tell without a range's name."""
    waited_ns = np.zeros(len(gaps), np.int64)
    for tid in distinct(parts.global_tid).tolist():
        own = parts.take(parts.global_tid == tid)
        waits = threads.of(tid).waits_in_os
        np.add.at(waited_ns, own.row, waits.covered_until(own.end_ns) - waits.covered_until(own.start_ns))
    half = 2 * waited_ns >= gaps.call_begin_ns - gaps.start_ns
    is_long = gaps.end_ns - gaps.start_ns >= LOADER_GAP_NS
    for_batch: BoolArray = half & is_long & (gaps.is_batch_copy == 1) & (loaded_ns == gaps.start_ns)
    return for_batch


def _refined(
    pieces: GapPieces, loaded_ns: Int64Array, restart_ns: Int64Array, blocked: Int64Array, gap: Int64Array
) -> GapPieces:
    """The pieces by cause: what the labels leave open is loading, blocked, restart or starving, in that order."""
    is_blocked = pieces.cause == code_of(Cause.OS_BLOCKED)
    is_open = (pieces.cause == NOBODY) | is_blocked
    loaded_ns = np.where(is_open, np.clip(loaded_ns, pieces.start_ns, pieces.end_ns), pieces.start_ns)
    restart_ns = np.where(is_open & ~is_blocked, np.clip(restart_ns, loaded_ns, pieces.end_ns), pieces.end_ns)
    cause = np.where(is_blocked, blocked, np.where(is_open, code_of(Cause.LAUNCH_STARVED), pieces.cause))
    tid = pieces.global_tid
    return GapPieces.concatenate(
        [
            GapPieces(pieces.start_ns, loaded_ns, np.full(len(gap), code_of(Cause.MODULE_LOADING)), tid, gap),
            GapPieces(loaded_ns, restart_ns, cause, tid, gap),
            GapPieces(restart_ns, pieces.end_ns, np.full(len(gap), code_of(Cause.HOST_SYNC)), tid, gap),
        ]
    ).solid()
