"""Which work ended each gap, which call launched that work, and which thread the GPU was waiting for."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.copies import UNIFIED_KINDS, CopyKind
from nsysan.model.tables import ABSENT, Table
from nsysan.model.thresholds import BATCH_BYTES
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.ordering import order_of

NO_ACTIVITY = -1
_LATEST = int(np.iinfo(np.int64).max)


class EndedGaps(Table, frozen=True):
    """Gaps of one GPU with what ended them, on the clock of the report that recorded it.

    ``shift_ns`` added to these times puts them on the GPU's clock.
    ``activity`` and ``previous`` are positions among the GPU's activities, ``NO_ACTIVITY`` where there is none. The
    call's times are kept as recorded, but a call later than the work it launched counts as begun and ended with it.
    ``previous_tid`` is the thread that launched the previous activity, ``ABSENT`` where no call did. The last three
    are 0 or 1: the work is its function's first launch, copies a batch to the device, is a copy of unified memory.
    """

    gap: Int64Array
    start_ns: Int64Array
    end_ns: Int64Array
    activity: Int64Array
    previous: Int64Array
    call: Int64Array
    call_start_ns: Int64Array
    call_end_ns: Int64Array
    previous_tid: Int64Array
    is_first_launch: Int64Array
    is_batch_copy: Int64Array
    is_unified_copy: Int64Array
    shift_ns: Int64Array

    @property
    def call_begin_ns(self) -> Int64Array:
        """Where the call begins inside the gap."""
        return np.clip(self.call_start_ns, self.start_ns, self.end_ns)

    @property
    def call_return_ns(self) -> Int64Array:
        """Where the call ends inside the gap, no earlier than it begins there."""
        return np.clip(self.call_end_ns, self.call_begin_ns, self.end_ns)


class LaunchedWork(msgspec.Struct, frozen=True, eq=False):
    """A GPU's activities, each with its call: the row in its report, begin and end on that report's clock."""

    activities: Activities
    call: Int64Array
    call_start_ns: Int64Array
    call_end_ns: Int64Array

    @classmethod
    def of(cls, activities: Activities, hosts: Mapping[int, Host]) -> LaunchedWork:
        """The activities with the calls that the hosts of their reports recorded."""
        call = np.full(len(activities), NO_CALL)
        starts_ns, ends_ns = np.full(len(activities), _LATEST), np.full(len(activities), _LATEST)
        for report, host in hosts.items():
            chosen = np.flatnonzero(activities.report == report)
            rows = host.launches.of(activities.take(chosen))
            called = chosen[rows != NO_CALL]
            call[chosen] = rows
            starts_ns[called] = host.calls.start_ns[call[called]]
            ends_ns[called] = host.calls.end_ns[call[called]]
        return cls(activities, call, starts_ns, ends_ns)


def ended_gaps(
    work: LaunchedWork, gaps: Intervals, hosts: Mapping[int, Host], shifts_ns: Mapping[int, int]
) -> EndedGaps:
    """The gaps with what ended each; ``shifts_ns`` added to a report's times puts them on the GPU's clock.

    A gap ends with the first activity of some length that begins at its end or, at the window's end, beyond it. Of
    several that begin together the one called first ended it.
    """
    activities = work.activities
    shift_of = np.array([shifts_ns.get(report, 0) for report in range(max(shifts_ns, default=0) + 1)], np.int64)
    activity = _next_activity(work, gaps, shift_of)
    previous = _previous_activity(activities, gaps)
    known = activity != NO_ACTIVITY
    safe = np.where(known, activity, 0)
    report = activities.report[safe]
    shift_ns = np.where(known, shift_of[report], 0)
    call = np.where(known, work.call[safe], NO_CALL)
    work_start_ns = activities.start_ns[safe] - shift_ns
    facts = _facts(activities, safe, hosts)
    return EndedGaps(
        gap=np.arange(len(gaps)),
        start_ns=gaps.start_ns - shift_ns,
        end_ns=gaps.end_ns - shift_ns,
        activity=activity,
        previous=previous,
        call=call,
        call_start_ns=np.where(call == NO_CALL, ABSENT, np.minimum(work.call_start_ns[safe], work_start_ns)),
        call_end_ns=np.where(
            call == NO_CALL,
            ABSENT,
            np.where(work.call_start_ns[safe] > work_start_ns, work_start_ns, work.call_end_ns[safe]),
        ),
        previous_tid=_threads_of(work, previous, report, hosts),
        is_first_launch=(facts[0] & known).astype(np.int64),
        is_batch_copy=(facts[1] & known).astype(np.int64),
        is_unified_copy=(facts[2] & known).astype(np.int64),
        shift_ns=shift_ns,
    )


def _next_activity(work: LaunchedWork, gaps: Intervals, shift_of: Int64Array) -> Int64Array:
    activities = work.activities
    solid = np.flatnonzero(activities.end_ns > activities.start_ns)
    called = work.call[solid] != NO_CALL
    own_ns = np.where(called, work.call_start_ns[solid], 0) + shift_of[activities.report[solid]]
    called_ns = np.where(called, own_ns, _LATEST)
    order = solid[order_of(activities.start_ns[solid], called_ns)]
    places = np.searchsorted(activities.start_ns[order], gaps.end_ns)
    padded = np.append(order, NO_ACTIVITY)
    return padded[places]


def _previous_activity(activities: Activities, gaps: Intervals) -> Int64Array:
    """The activity that ended last before each gap; of several the one that began first."""
    latest_ns = np.maximum.accumulate(activities.end_ns)
    places = np.searchsorted(latest_ns, gaps.start_ns, side="right") - 1
    reached = np.searchsorted(latest_ns, latest_ns[np.maximum(places, 0)])
    return np.where(places < 0, NO_ACTIVITY, reached)


def _threads_of(
    work: LaunchedWork, positions: Int64Array, reports: Int64Array, hosts: Mapping[int, Host]
) -> Int64Array:
    """The thread that called each activity; ``ABSENT`` where none did or it is of another report than ``reports``."""
    threads = np.full(len(positions), ABSENT)
    safe = np.maximum(positions, 0)
    calls = work.call[safe]
    for report, host in hosts.items():
        of_report = (work.activities.report[safe] == report) & (reports == report)
        chosen = np.flatnonzero(of_report & (positions != NO_ACTIVITY) & (calls != NO_CALL))
        threads[chosen] = host.calls.global_tid[calls[chosen]]
    return threads


def _facts(activities: Activities, positions: Int64Array, hosts: Mapping[int, Host]) -> tuple[BoolArray, ...]:
    """Whether each activity is a first launch, a copy that brings a batch, a copy of unified memory."""
    first, batch, unified = (np.zeros(len(positions), np.bool_) for _ in range(3))
    for report, host in hosts.items():
        of_report = activities.report[positions] == report
        kernels = np.flatnonzero(of_report & (activities.source[positions] == SOURCES.index("kernels")))
        first[kernels] = host.first_launches[activities.row[positions[kernels]]]
        copies = np.flatnonzero(of_report & (activities.source[positions] == SOURCES.index("copies")))
        if host.trace.copies is not None:
            rows = activities.row[positions[copies]]
            kinds = host.trace.copies.copy_kind[rows]
            batch[copies] = (kinds == CopyKind.HOST_TO_DEVICE) & (host.trace.copies.size_bytes[rows] >= BATCH_BYTES)
            unified[copies] = np.isin(kinds, UNIFIED_KINDS)
    return first, batch, unified
