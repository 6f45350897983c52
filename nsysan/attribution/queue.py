"""How far the host was ahead of a device: what waited there when a call began, and how long work waited."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import Int64Array
from nsysan.model.tables import ABSENT, Table
from nsysan.timeline.ordering import order_of
from nsysan.timeline.places import places_in


class LaunchedCalls(Table, frozen=True):
    """One row a call that launched work on the device, in order of begin.

    ``latency_ns`` is from the call's begin to that of the first of its work, ``queue_ns`` from the call's end to there,
    ``ABSENT`` where the work began earlier. ``depth`` counts the device's activities launched by earlier calls that had
    not ended when this one began.
    """

    call: Int64Array
    work_count: Int64Array
    latency_ns: Int64Array
    queue_ns: Int64Array
    depth: Int64Array


class DeviceLaunches(msgspec.Struct, frozen=True, eq=False):
    """The launching calls of a device. An impossible pair is work that began before its call, and is in no row."""

    calls: LaunchedCalls
    without_call_count: int
    impossible_pair_count: int


def device_launches(activities: Activities, host: Host) -> DeviceLaunches:
    """The launches on one device; ``activities`` are all of its process and in order of begin."""
    rows = host.launches.of(activities)
    called = np.flatnonzero(rows != NO_CALL)
    launched_ns = host.calls.start_ns[rows[called]]
    impossible = launched_ns > activities.start_ns[called]
    sound = called[~impossible]
    work_call, work_call_ns = rows[sound], launched_ns[~impossible]
    # the first of each call's work comes first, as activities are in order of begin
    order = order_of(work_call_ns, work_call)
    is_first = np.append(np.ones(min(len(order), 1), np.bool_), np.diff(work_call[order]) != 0)
    work_count = np.diff(np.flatnonzero(is_first), append=len(order))
    first = order[is_first]
    call, call_ns, start_ns = work_call[first], work_call_ns[first], activities.start_ns[sound[first]]
    queue_ns = start_ns - host.calls.end_ns[call]
    calls = LaunchedCalls(
        call=call,
        work_count=work_count,
        latency_ns=start_ns - call_ns,
        queue_ns=np.where(queue_ns < 0, ABSENT, queue_ns),
        depth=_depth(call_ns, work_count, _ends_after_calls(activities.end_ns[sound], work_call_ns)),
    )
    return DeviceLaunches(calls, len(activities) - len(called), int(impossible.sum()))


def _ends_after_calls(end_ns: Int64Array, call_ns: Int64Array) -> Int64Array:
    """When each work has ended, later than its call begins: else work of no length would end before it was launched."""
    return np.maximum(end_ns, call_ns + 1)


def _depth(call_ns: Int64Array, work_count: Int64Array, end_ns: Int64Array) -> Int64Array:
    """Launched before each call less ended by then; what has ended was launched before."""
    launched = np.concatenate([[0], np.cumsum(work_count)])[places_in(call_ns, call_ns)]
    depth: Int64Array = launched - places_in(np.sort(end_ns, kind="stable"), call_ns, after_equal=True)
    return depth
