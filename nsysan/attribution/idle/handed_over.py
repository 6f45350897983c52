"""Gaps in which nothing but handing over happened, as nearly all are where the host is ahead: one pass finds them."""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence, Sequence

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.idle.gaps import by_report, called_gaps
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import Int64Array
from nsysan.model.tables import ABSENT
from nsysan.model.thresholds import HANDOVER_NS
from nsysan.timeline.compiled import compiled, is_worth_compiling
from nsysan.timeline.intervals import Intervals


def handing_threads(
    activities: Activities, gaps: Intervals, hosts: Mapping[int, Host], shifts_ns: Mapping[int, int]
) -> Int64Array:
    """The thread whose call had returned before each gap of up to 20 us that its work ended; ``ABSENT`` for others."""
    tids = np.full(len(gaps), ABSENT)
    (host, *others) = hosts.values()
    # whole columns take five million while numba is loaded
    if not others and not any(shifts_ns.values()) and is_worth_compiling(len(host.calls) // 5):
        calls = _calls_before(activities, gaps, host)
        rows = np.flatnonzero(calls != NO_CALL)
        tids[rows] = host.calls.global_tid[calls[rows]]
        return tids
    called = called_gaps(activities, gaps, hosts, shifts_ns)
    had_returned = (called.call != NO_CALL) & (called.call_end_ns <= called.start_ns)
    short = np.flatnonzero(had_returned & (gaps.durations_ns <= HANDOVER_NS))
    for _, host, places in by_report(activities, called.activity[short], hosts):
        tids[short[places]] = host.calls.global_tid[called.call[short[places]]]
    return tids


def _calls_before(activities: Activities, gaps: Intervals, host: Host) -> Int64Array:
    calls = np.empty(len(gaps), np.int64)
    work = activities.start_ns, activities.end_ns, host.launches.of(activities)
    compiled(_walk)(gaps.start_ns, gaps.end_ns, *work, host.calls.start_ns, host.calls.end_ns, HANDOVER_NS, calls)
    return calls


def _walk(  # noqa: PLR0913, PLR0917 -- gaps, work and calls, and room for what comes out: numba makes no lists
    gap_starts: Sequence[int],
    gap_ends: Sequence[int],
    work_starts: Sequence[int],
    work_ends: Sequence[int],
    work_calls: Sequence[int],
    call_starts: Sequence[int],
    call_ends: Sequence[int],
    longest: int,
    found: MutableSequence[int],
) -> None:
    """Find the first work of some length from each gap's end on; of several that begin together that called first."""
    work, count = 0, len(work_starts)
    for gap in range(len(gap_starts)):
        while work < count and (work_starts[work] < gap_ends[gap] or work_ends[work] <= work_starts[work]):
            work += 1
        first, other = -1, work
        while other < count and work_starts[other] == work_starts[work]:
            call = work_calls[other]
            is_known = call >= 0 and work_ends[other] > work_starts[other]
            if is_known and (first < 0 or call_starts[call] < call_starts[first]):
                first = call
            other += 1
        is_over = first >= 0 and call_ends[first] <= gap_starts[gap]
        found[gap] = first if is_over and gap_ends[gap] - gap_starts[gap] <= longest else -1
