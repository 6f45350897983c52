"""The story of a gap: which call ended it, what the thread the GPU waited for did before, and what ran around it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.analysis.gap_sentence import GapCall, GapSpan, Recorded, tell
from nsysan.attribution.activities import Activities
from nsysan.attribution.devices import Gpu
from nsysan.attribution.idle.codes import CAUSES
from nsysan.attribution.idle.doing import doing_over, ranges_at
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.idle.pieces import IdleTime
from nsysan.attribution.job import Job
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.ranges.details import described
from nsysan.model.arrays import Int64Array
from nsysan.model.tables import ABSENT
from nsysan.model.text import display_text
from nsysan.model.trace import PID_MASK, PROCESS_BITS
from nsysan.timeline.intervals import Intervals

SPAN_COUNT = 8
NEIGHBOUR_COUNT = 3
RANGE_COUNT = 12
MARK_COUNT = 8


class GapStory(msgspec.Struct, frozen=True):
    """How a gap came about, in one sentence and its parts, on the clock of the GPU.

    ``call`` is null where none is known, ``spans`` are the longest stretches in order of time, ``ranges`` those around
    the call from the outermost in, ``marks`` what the process marked in the gap, both with their category, payload and
    JSON text; then the last activities before the gap and the first after it, in order of begin.
    """

    sentence: str
    call: GapCall | None
    spans: tuple[GapSpan, ...]
    ranges: tuple[str, ...]
    marks: tuple[str, ...]
    ran_before: tuple[str, ...]
    ran_after: tuple[str, ...]


def tell_story(job: Job, gpu: Gpu, idle: IdleTime, gap_ns: tuple[int, int]) -> GapStory:
    """The story of the gap of the GPU that begins and ends there."""
    start_ns, end_ns = gap_ns
    ended = job.idle.calls_ending(gpu, Intervals(np.array([start_ns]), np.array([end_ns])))
    activity, call_row, shift_ns = int(ended.activity[0]), int(ended.call[0]), int(ended.shift_ns[0])
    report = int(gpu.activities.report[max(activity, 0)])
    threads = job.idle.threads[report]
    spans = tuple(_spans(threads, idle.pieces_of_gap(start_ns, end_ns), shift_ns))
    call = None if call_row == NO_CALL else _call(threads, call_row, shift_ns)
    before, after = _neighbours(job, gpu.activities, start_ns, end_ns)
    ranges = () if call_row == NO_CALL else tuple(_ranges(threads, call_row))
    threads.forget()
    return GapStory(
        sentence=tell(
            idle.causes_of_gap(start_ns, end_ns), spans, (call, after[0] if after else None), _recorded(threads)
        ),
        call=call,
        spans=spans,
        ranges=ranges,
        marks=() if call_row == NO_CALL else _marks(threads, call_row, (start_ns - shift_ns, end_ns - shift_ns)),
        ran_before=before,
        ran_after=after,
    )


def _call(threads: HostThreads, row: int, shift_ns: int) -> GapCall:
    calls, trace = threads.host.calls, threads.host.trace
    name = display_text(trace.text(int(calls.name_id[row])))
    times = (int(calls.start_ns[row]) + shift_ns, int(calls.end_ns[row]) + shift_ns)
    return GapCall(name, *times, int(calls.global_tid[row]) & PID_MASK)


def _recorded(threads: HostThreads) -> Recorded:
    return Recorded(scheduling=bool(len(threads.scheduling)), os_calls=bool(len(threads.os_calls)))


def _spans(threads: HostThreads, pieces: IdlePieces, shift_ns: int) -> Iterator[GapSpan]:
    longest = np.sort(np.argsort(pieces.start_ns - pieces.end_ns, kind="stable")[:SPAN_COUNT])
    for start_ns, end_ns, cause, tid in zip(
        *(column[longest].tolist() for column in (pieces.start_ns, pieces.end_ns, pieces.cause, pieces.global_tid)),
        strict=True,
    ):
        thread_id = None if tid == ABSENT else tid & PID_MASK
        yield GapSpan(
            start_ns, end_ns, CAUSES[cause], thread_id, *_doing(threads, tid, start_ns - shift_ns, end_ns - shift_ns)
        )


def _doing(threads: HostThreads, tid: int, start_ns: int, end_ns: int) -> tuple[str | None, int]:
    doing = None if tid == ABSENT else doing_over(threads, tid, start_ns, end_ns)
    return (None, 0) if doing is None else (display_text(doing.name), doing.time_ns)


def _ranges(threads: HostThreads, call_row: int) -> Iterator[str]:
    calls = threads.host.calls
    rows = ranges_at(threads, int(calls.global_tid[call_row]), int(calls.start_ns[call_row]))[-RANGE_COUNT:]
    trace = threads.host.trace
    for row in rows.tolist():
        yield display_text(described(trace, threads.host.ranges, trace.nvtx_range_details, row))


def _marks(threads: HostThreads, call_row: int, gap_ns: tuple[int, int]) -> tuple[str, ...]:
    """The first marks that the process of the call set in the gap."""
    trace = threads.host.trace
    marks = trace.nvtx_marks
    if marks is None:
        return ()
    process = int(threads.host.calls.global_tid[call_row]) & PROCESS_BITS
    inside = (marks.start_ns >= gap_ns[0]) & (marks.start_ns < gap_ns[1]) & (marks.global_tid & PROCESS_BITS == process)
    rows = np.flatnonzero(inside)
    first = rows[np.argsort(marks.start_ns[rows], kind="stable")][:MARK_COUNT]
    return tuple(display_text(described(trace, marks, trace.nvtx_mark_details, row)) for row in first.tolist())


def _neighbours(
    job: Job, activities: Activities, start_ns: int, end_ns: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What ran last before the gap and first after it."""
    solid = np.flatnonzero(activities.end_ns > activities.start_ns)
    first = int(np.searchsorted(activities.start_ns[solid], start_ns))
    next_one = int(np.searchsorted(activities.start_ns[solid], end_ns))
    before = solid[max(first - NEIGHBOUR_COUNT, 0) : first]
    after = solid[next_one : next_one + NEIGHBOUR_COUNT]
    return _names(job, activities, before), _names(job, activities, after)


def _names(job: Job, activities: Activities, places: Int64Array) -> tuple[str, ...]:
    return tuple(display_text(job.activity_name(activities, place)) for place in places.tolist())
