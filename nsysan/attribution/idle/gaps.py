"""Which work ended each gap, which call launched that work, and which thread the GPU was waiting for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.columns import taken
from nsysan.model.copies import UNIFIED_KINDS, CopyKind
from nsysan.model.tables import ABSENT, Table
from nsysan.model.thresholds import BATCH_BYTES
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.places import places_in

NO_ACTIVITY = -1
_LATEST = int(np.iinfo(np.int64).max)


class CalledGaps(Table, frozen=True):
    """Gaps of one GPU with the call that ended each, on the clock of the report that recorded it.

    ``shift_ns`` added to these times puts them on the GPU's clock.
    ``activity`` is a position among the GPU's activities (``NO_ACTIVITY``), ``call`` a row of the calls of that
    activity's report (``NO_CALL``). The call's times are kept as recorded, but a call later than the work it launched
    counts as begun and ended with it.
    """

    start_ns: Int64Array
    end_ns: Int64Array
    activity: Int64Array
    call: Int64Array
    call_start_ns: Int64Array
    call_end_ns: Int64Array
    shift_ns: Int64Array

    @property
    def call_begin_ns(self) -> Int64Array:
        """Where the call begins inside the gap."""
        return np.clip(self.call_start_ns, self.start_ns, self.end_ns)

    @property
    def call_return_ns(self) -> Int64Array:
        """Where the call ends inside the gap, no earlier than it begins there."""
        return np.clip(self.call_end_ns, self.call_begin_ns, self.end_ns)


class EndedGaps(CalledGaps, frozen=True):
    """Such gaps with what tells their causes apart; ``gap`` is the place of each in the table as it was made.

    ``previous_tid`` is the thread that launched the activity before the gap, ``ABSENT`` where no call did. The last
    three are 0 or 1: the work is its function's first launch, copies a batch to the device, is a copy of unified
    memory.
    """

    gap: Int64Array
    previous_tid: Int64Array
    is_first_launch: Int64Array
    is_batch_copy: Int64Array
    is_unified_copy: Int64Array


def called_gaps(
    activities: Activities, gaps: Intervals, hosts: Mapping[int, Host], shifts_ns: Mapping[int, int]
) -> CalledGaps:
    """The gaps with the call that ended each; ``shifts_ns`` added to a report's times puts them on the GPU's clock.

    A gap ends with the first activity of some length that begins at its end or, at the window's end, beyond it. Of
    several that begin together the one called first ended it.
    """
    activity = _next_activity(activities, gaps, hosts, shifts_ns)
    shift_ns, call = np.zeros(len(gaps), np.int64), np.full(len(gaps), NO_CALL)
    call_start_ns, call_end_ns = np.full(len(gaps), ABSENT), np.full(len(gaps), ABSENT)
    for report, host, ended in by_report(activities, activity, hosts):
        shift_ns[ended] = shifts_ns.get(report, 0)
        call[ended] = host.launches.of(activities, activity[ended])
        rows = ended[call[ended] != NO_CALL]
        work_start_ns = activities.start_ns[activity[rows]] - shift_ns[rows]
        start_ns, end_ns = host.calls.start_ns[call[rows]], host.calls.end_ns[call[rows]]
        call_start_ns[rows] = np.minimum(start_ns, work_start_ns)
        call_end_ns[rows] = np.where(start_ns > work_start_ns, work_start_ns, end_ns)
    return CalledGaps(
        start_ns=gaps.start_ns - shift_ns,
        end_ns=gaps.end_ns - shift_ns,
        activity=activity,
        call=call,
        call_start_ns=call_start_ns,
        call_end_ns=call_end_ns,
        shift_ns=shift_ns,
    )


def ended_gaps(activities: Activities, gaps: CalledGaps, hosts: Mapping[int, Host]) -> EndedGaps:
    """The gaps with what else tells their causes apart."""
    first, batch, unified = _facts(activities, gaps.activity, hosts)
    return EndedGaps(
        **gaps.columns(),
        gap=np.arange(len(gaps)),
        previous_tid=_previous_threads(activities, gaps, hosts),
        is_first_launch=first.astype(np.int64),
        is_batch_copy=batch.astype(np.int64),
        is_unified_copy=unified.astype(np.int64),
    )


def by_report(
    activities: Activities, positions: Int64Array, hosts: Mapping[int, Host]
) -> Iterator[tuple[int, Host, Int64Array]]:
    """Each report and its host with the places of those positions at which an activity of it stands."""
    reports: IdArray = taken(activities.report, np.maximum(positions, 0))
    for report, host in hosts.items():
        yield report, host, np.flatnonzero((reports == report) & (positions != NO_ACTIVITY))


def _next_activity(
    activities: Activities, gaps: Intervals, hosts: Mapping[int, Host], shifts_ns: Mapping[int, int]
) -> Int64Array:
    solid = np.flatnonzero(activities.end_ns > activities.start_ns)
    starts_ns = activities.start_ns[solid]
    together = starts_ns[1:] == starts_ns[:-1]
    if together.any():
        tied = np.flatnonzero(np.append(together, [False]) | np.append([False], together))
        called_ns = _called_ns(activities, solid[tied], hosts, shifts_ns)
        solid[tied] = solid[tied[np.lexsort((called_ns, starts_ns[tied]))]]
    return np.append(solid, NO_ACTIVITY)[places_in(starts_ns, gaps.end_ns)]


def _called_ns(
    activities: Activities, positions: Int64Array, hosts: Mapping[int, Host], shifts_ns: Mapping[int, int]
) -> Int64Array:
    """When the call of each of these began, on the GPU's clock; those without a call come last."""
    called_ns = np.full(len(positions), _LATEST)
    for report, host, places in by_report(activities, positions, hosts):
        calls = host.launches.of(activities, positions[places])
        called = calls != NO_CALL
        called_ns[places[called]] = host.calls.start_ns[calls[called]] + shifts_ns.get(report, 0)
    return called_ns


def _previous_threads(activities: Activities, gaps: CalledGaps, hosts: Mapping[int, Host]) -> Int64Array:
    """The thread that launched the activity before each gap, where it is of the report of that which ended the gap.

    The activity before is the one that ended last; of several the one that began first.
    """
    latest_ns = np.maximum.accumulate(activities.end_ns)
    places = np.searchsorted(latest_ns, gaps.start_ns + gaps.shift_ns, side="right") - 1
    reached = np.searchsorted(latest_ns, latest_ns[np.maximum(places, 0)])
    previous = np.where(places < 0, NO_ACTIVITY, reached)
    reports = taken(activities.report, np.maximum(gaps.activity, 0))
    threads = np.full(len(gaps), ABSENT)
    for report, host, followed in by_report(activities, previous, hosts):
        rows = followed[reports[followed] == report]
        calls = host.launches.of(activities, previous[rows])
        called = calls != NO_CALL
        threads[rows[called]] = host.calls.global_tid[calls[called]]
    return threads


def _facts(activities: Activities, positions: Int64Array, hosts: Mapping[int, Host]) -> tuple[BoolArray, ...]:
    """Whether each activity is a first launch, a copy that brings a batch, a copy of unified memory."""
    first, batch, unified = (np.zeros(len(positions), np.bool_) for _ in range(3))
    for _, host, chosen in by_report(activities, positions, hosts):
        sources = activities.source[positions[chosen]]
        kernels = chosen[sources == SOURCES.index("kernels")]
        first[kernels] = host.first_launches[activities.row[positions[kernels]]]
        copies = chosen[sources == SOURCES.index("copies")]
        if host.trace.copies is not None:
            rows = activities.row[positions[copies]]
            kinds = host.trace.copies.copy_kind[rows]
            batch[copies] = (kinds == CopyKind.HOST_TO_DEVICE) & (host.trace.copies.size_bytes[rows] >= BATCH_BYTES)
            unified[copies] = np.isin(kinds, UNIFIED_KINDS)
    return first, batch, unified
