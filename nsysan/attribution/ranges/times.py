"""How long each NVTX range took on its CPU thread, and how much GPU time the calls inside it launched.

A range holds the calls that begin inside it on its own thread: an index span over the thread's calls, whose GPU time is
a difference of prefix sums. That is right for the innermost range and every one around it, however ranges overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from nsysan.attribution.grouping import rows_by_key
from nsysan.attribution.host import Host
from nsysan.attribution.launched_time import LaunchedTime
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import summed
from nsysan.model.tables import Table
from nsysan.timeline.labelling import NOBODY, nest_of


class RangeTimes(Table, frozen=True):
    """Push/pop ranges of one thread. ``row`` is the range's, ``parent`` the place in this table of the range around it.

    Nesting is of one thread and domain. Times are cut at the bounds that were asked for. Self is what no range inside
    has. ``first_call`` and ``last_call`` bound the span of calls, as places in order of thread and begin.
    """

    row: IdArray
    parent: IdArray
    start_ns: Int64Array
    end_ns: Int64Array
    cpu_self_ns: Int64Array
    first_call: IdArray
    last_call: IdArray
    gpu_self_ns: Int64Array


def range_times(host: Host, launched: LaunchedTime, thread: int, bounds_ns: tuple[int, int]) -> RangeTimes:
    """The times of every push/pop range of this thread; nothing of a range outside the bounds counts."""
    tables: list[RangeTimes] = []
    for rows in _by_domain(host, host.stacked_by_thread.of(thread)):
        found = _of_nest(host, launched, rows, bounds_ns)
        place = sum(map(len, tables))
        tables.append(replace(found, parent=np.where(found.parent == NOBODY, NOBODY, found.parent + place)))
    return RangeTimes.concatenate(tables)


def _by_domain(host: Host, rows: Int64Array) -> Iterator[Int64Array]:
    grouped = rows_by_key(host.ranges.domain_id[rows], host.ranges.start_ns[rows])
    yield from (rows[places] for _, places in grouped.groups())


def _of_nest(host: Host, launched: LaunchedTime, rows: Int64Array, bounds_ns: tuple[int, int]) -> RangeTimes:
    start_ns, end_ns = host.ranges.start_ns[rows], host.range_ends_ns[rows]
    nest = nest_of(start_ns, end_ns)
    labelling = nest.innermost
    first, calls = launched.of_thread(int(host.ranges.global_tid[rows[0]]))
    clipped_start_ns, clipped_end_ns = start_ns.clip(*bounds_ns), np.maximum(end_ns, start_ns).clip(*bounds_ns)
    held = np.diff(labelling.bounds_ns.clip(*bounds_ns), append=bounds_ns[1]) * (labelling.labels != NOBODY)
    holder = labelling.at(calls.start_ns)
    is_held = holder != NOBODY
    return RangeTimes(
        row=rows,
        parent=nest.parents,
        start_ns=clipped_start_ns,
        end_ns=clipped_end_ns,
        cpu_self_ns=summed(held, np.maximum(labelling.labels, 0), len(rows)),
        first_call=first + np.searchsorted(calls.start_ns, start_ns),
        last_call=first + np.searchsorted(calls.start_ns, np.maximum(end_ns, start_ns)),
        gpu_self_ns=summed(calls.gpu_ns[is_held], holder[is_held], len(rows)),
    )
