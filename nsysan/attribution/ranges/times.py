"""How long each NVTX range took on its CPU thread, and how much GPU time the calls inside it launched.

A range holds the calls that begin inside it on its own thread: an index span over the thread's calls, whose GPU time is
a difference of prefix sums. That is right for the innermost range and every one around it, however ranges overlap.
"""

from __future__ import annotations

import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.launched_time import LaunchingCalls
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import coded, summed
from nsysan.model.tables import Table
from nsysan.timeline.compiled import is_worth_compiling
from nsysan.timeline.labelling import NOBODY, nest_of
from nsysan.timeline.nest_clocks import Clocks, NestClocks, nest_clocks
from nsysan.timeline.ordering import grouped_rows, order_of


class RangeTimes(Table, frozen=True):
    """Push/pop ranges of one thread in order of begin, of those that begin together the longest first.

    ``row`` is the range's, ``parent`` the place in this table of the range around it. Nesting is of one domain. Times
    are cut at the bounds that were asked for. Self is what no range inside has. ``first_call`` and ``last_call`` bound
    the span of calls, as places among those of the thread.
    """

    row: IdArray
    parent: IdArray
    start_ns: Int64Array
    end_ns: Int64Array
    cpu_self_ns: Int64Array
    first_call: IdArray
    last_call: IdArray
    gpu_self_ns: Int64Array


def range_times(
    host: Host, thread: int, calls: LaunchingCalls, totals_ns: Int64Array, bounds_ns: tuple[int, int]
) -> RangeTimes:
    """The times of every push/pop range of this thread; nothing of a range outside the bounds counts.

    ``totals_ns`` is the GPU time launched before each of the thread's ``calls`` and by all of them.
    """
    rows, start_ns, end_ns = _longest_first(host, host.stacked_by_thread.of(thread))
    nest = coded(host.ranges.domain_id[rows])[1]
    clocks = Clocks(bounds_ns, calls.start_ns, totals_ns)
    found = (nest_clocks if are_many(len(host.ranges)) else _nest_clocks)(start_ns, end_ns, nest, clocks)
    return RangeTimes(
        row=rows,
        parent=found.parent,
        start_ns=start_ns.clip(*bounds_ns),
        end_ns=end_ns.clip(*bounds_ns),
        cpu_self_ns=found.self_ns,
        first_call=found.first_tick,
        last_call=found.last_tick,
        gpu_self_ns=found.self_weight,
    )


def are_many(range_count: int) -> bool:
    """Whether loops over the ranges of a report beat whole columns: these take two million while numba is loaded."""
    return is_worth_compiling(range_count // 2)


def _longest_first(host: Host, rows: IdArray) -> tuple[IdArray, Int64Array, Int64Array]:
    """Ranges that are in order of begin, of those that begin together the longest first, with their times."""
    start_ns, end_ns = host.ranges.start_ns[rows], host.range_ends_ns[rows]
    grows = (start_ns[1:] == start_ns[:-1]) & (end_ns[1:] > end_ns[:-1])
    if not grows.any():
        return rows, start_ns, end_ns
    order = order_of(start_ns, -end_ns)
    return rows[order], start_ns[order], end_ns[order]


def _nest_clocks(start_ns: Int64Array, end_ns: Int64Array, nest: IdArray, clocks: Clocks) -> NestClocks:
    """What ``nest_clocks`` finds, by whole columns: quick where there are few, and where nothing can be compiled."""
    parent = np.full(len(nest), NOBODY)
    self_ns, self_weight = np.zeros((2, len(nest)), np.int64)
    weights, bounds_ns = np.diff(clocks.totals), clocks.bounds_ns
    by_nest = np.split(grouped_rows(nest, int(nest.max(initial=0)) + 1), np.cumsum(np.bincount(nest))[:-1])
    for rows in by_nest if len(nest) else ():
        found = nest_of(start_ns[rows], end_ns[rows])
        parent[rows] = np.append(rows, NOBODY)[found.parents]
        held_ns = np.diff(found.innermost.bounds_ns.clip(*bounds_ns), append=bounds_ns[1])
        holder = found.innermost.relabelled(rows)
        self_ns += _of_holders(held_ns, holder.labels, len(nest))
        self_weight += _of_holders(weights, holder.at(clocks.ticks_ns), len(nest))
    first, last = (np.searchsorted(clocks.ticks_ns, times_ns) for times_ns in (start_ns, end_ns))
    return NestClocks(parent, first, last, self_ns, self_weight)


def _of_holders(values: Int64Array, holders: Int64Array, count: int) -> Int64Array:
    """The values summed by who holds; those that ``NOBODY`` holds are left out."""
    held = holders != NOBODY
    return summed(values[held], holders[held], count)
