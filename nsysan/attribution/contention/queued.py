"""Work that was ready and did not begin: communication behind compute that was launched later, and the other way."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.streams import Streams
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.partition import Activity
from nsysan.model.tables import Table
from nsysan.model.thresholds import AT_ONCE_NS, SHORTEST_DELAY_NS
from nsysan.timeline.intervals import union
from nsysan.timeline.ordering import grouped_rows, order_of
from nsysan.timeline.search import search

_MOST_LOOKED_AT = 10_000
_NOTHING_ENDED = -1


class CalledWork(Table, frozen=True):
    """The work of a device that a call launched, in order of its end.

    ``free_ns`` is when its stream had ended all that was called before it and its call had returned: it could begin
    then, but for what other streams had to do first.
    """

    activity: Int64Array
    start_ns: Int64Array
    end_ns: Int64Array
    call_start_ns: Int64Array
    call_end_ns: Int64Array
    free_ns: Int64Array
    is_compute: BoolArray
    is_communication: BoolArray


class QueuedWork(Table, frozen=True):
    """Work that stood ready from ``ready_ns`` on, and began when ``behind`` had ended; positions among activities."""

    activity: Int64Array
    behind: Int64Array
    ready_ns: Int64Array
    start_ns: Int64Array


def called_work(activities: Activities, streams: Streams, host: Host, window_ns: tuple[int, int]) -> CalledWork:
    """The work of one device in a window; ``activities`` are all of it, in order of start."""
    first_ns, last_ns = window_ns
    calls = host.launches.of(activities)
    rows = np.flatnonzero((calls != NO_CALL) & (activities.end_ns > activities.start_ns))
    free_ns = _stream_free_ns(streams.codes[rows], activities.end_ns[rows])
    inside = (activities.end_ns[rows] > first_ns) & (activities.start_ns[rows] < last_ns)
    if not inside.all():
        rows, free_ns = rows[inside], free_ns[inside]
    end_ns = activities.end_ns[rows]
    by_end = order_of(end_ns, activities.start_ns[rows])
    rows, end_ns = rows[by_end], end_ns[by_end]
    calls, kinds = calls[rows], activities.kind[rows]
    call_end_ns = host.calls.end_ns[calls]
    return CalledWork(
        activity=rows,
        start_ns=activities.start_ns[rows],
        end_ns=end_ns,
        call_start_ns=host.calls.start_ns[calls],
        call_end_ns=call_end_ns,
        free_ns=np.maximum(call_end_ns, free_ns[by_end]),
        is_compute=kinds == int(Activity.COMPUTE),
        is_communication=kinds == int(Activity.COMMUNICATION),
    )


def queued_communication(work: CalledWork) -> QueuedWork:
    """Communication that began when compute had ended which was called after it, and so is nothing it can depend on.

    It was ready when its call had returned, its stream was free, and the last work that was called before it and
    ended before it began had ended: an event may have made it wait for that. So the delay is the least there was.
    """
    asked = np.flatnonzero(work.is_communication)
    last = search(work.end_ns, work.start_ns[asked], side="right") - 1
    safe = np.maximum(last, 0)
    behind = (last >= 0) & work.is_compute[safe] & (work.start_ns[asked] - work.end_ns[safe] <= AT_ONCE_NS)
    behind &= work.call_start_ns[safe] >= work.call_end_ns[asked]
    asked, last = asked[behind], last[behind]
    ready_ns = np.maximum(work.free_ns[asked], _last_dependency_ns(work, asked, last))
    late = work.start_ns[asked] - ready_ns >= SHORTEST_DELAY_NS
    asked, last = asked[late], last[late]
    return QueuedWork(work.activity[asked], work.activity[last], ready_ns[late], work.start_ns[asked])


def compute_behind_communication(work: CalledWork) -> QueuedWork:
    """Compute that stood ready while communication ran on another stream, and began when that had ended."""
    asked = np.flatnonzero(work.is_compute)
    last = search(work.end_ns, work.start_ns[asked], side="right") - 1
    safe = np.maximum(last, 0)
    behind = (last >= 0) & work.is_communication[safe] & (work.start_ns[asked] - work.end_ns[safe] <= AT_ONCE_NS)
    asked, last = asked[behind], last[behind]
    ready_ns = np.maximum(work.free_ns[asked], work.start_ns[last])
    waits = work.end_ns[last] - ready_ns >= SHORTEST_DELAY_NS
    asked, last = asked[waits], last[waits]
    return QueuedWork(work.activity[asked], work.activity[last], ready_ns[waits], work.start_ns[asked])


def waited_ns(queued: QueuedWork) -> int:
    """The time in which any of the work stood ready: what waits at once counts once."""
    return union(queued.ready_ns, queued.start_ns).total_ns


def _last_dependency_ns(work: CalledWork, asked: Int64Array, last: Int64Array) -> Int64Array:
    """The end of the last work up to ``last`` in order of end that was called before each; none: before all times.

    What ended before the work was free does not matter, so one looks back no further.
    """
    found_ns = work.free_ns[asked].copy()
    places, open_ = last.copy(), np.arange(len(asked))
    for _ in range(_MOST_LOOKED_AT):
        ended_ns = work.end_ns[np.maximum(places[open_], 0)]
        open_ = open_[(places[open_] > _NOTHING_ENDED) & (ended_ns > work.free_ns[asked[open_]])]
        if not len(open_):
            break
        before = work.call_start_ns[places[open_]] < work.call_start_ns[asked[open_]]
        found_ns[open_[before]] = work.end_ns[places[open_[before]]]
        open_ = open_[~before]
        places[open_] -= 1
    # what was not decided is not claimed
    found_ns[open_] = work.start_ns[asked[open_]]
    return found_ns


def _stream_free_ns(stream: IdArray, end_ns: Int64Array) -> Int64Array:
    """The end of the work before each on its stream, the earliest time where there is none; in order of start."""
    order = grouped_rows(stream, int(stream.max(initial=-1)) + 1)
    previous_ns = np.concatenate([[np.iinfo(np.int64).min], end_ns[order][:-1]])
    first = np.concatenate([[True], np.diff(stream[order]) != 0])[: len(order)]
    free_ns = np.empty(len(order), np.int64)
    free_ns[order] = np.where(first, np.iinfo(np.int64).min, previous_ns[: len(order)])
    return free_ns
