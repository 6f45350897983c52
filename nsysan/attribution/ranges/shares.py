"""What each range adds to the total of its name, in which time inside two ranges of that name counts once."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.attribution.ranges.times import RangeTimes, are_many
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.tables import Table
from nsysan.timeline.compiled import compiled
from nsysan.timeline.ordering import grouped_rows

_NONE = int(np.iinfo(np.int64).min)


class OwnShare(Table, frozen=True):
    """What each range adds to the total of its name: nothing of what another range of that name around it has."""

    cpu_ns: Int64Array
    gpu_ns: Int64Array


def own_shares(times: RangeTimes, groups: Int64Array, totals_ns: Int64Array, range_count: int) -> OwnShare:
    """The share of each range of a thread in its name's totals: time inside two ranges of one name counts once.

    It goes to the one that began first. ``totals_ns`` is the GPU time launched before each place of the call order,
    ``range_count`` how many ranges there are on all threads.
    """
    if are_many(range_count):
        return _swept_shares(times, groups, totals_ns)
    names, key = coded(groups)
    order = grouped_rows(key, len(names))
    head = np.diff(key[order], prepend=-1) != 0
    end_ns = np.maximum(times.end_ns, times.start_ns)[order]
    begun_ns = np.maximum(times.start_ns[order], _latest_before(end_ns, head))
    first, last = times.first_call[order], times.last_call[order]
    begun = np.maximum(first, _latest_before(last, head))
    cpu_ns, gpu_ns = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
    cpu_ns[order] = np.maximum(end_ns - begun_ns, 0)
    gpu_ns[order] = totals_ns[last] - totals_ns[np.minimum(begun, last)]
    return OwnShare(cpu_ns, gpu_ns)


def _latest_before(ends: Int64Array, head: np.ndarray) -> Int64Array:
    """The largest end among the rows before each in its group; the smallest number there is for the first."""
    if not len(ends):
        return ends
    # groups are told apart by adding to the ends what no end reaches
    earliest, reach = int(ends.min()), int(ends.max()) - int(ends.min()) + 1
    if reach * (int(head.sum()) + 1) > np.iinfo(np.int64).max:
        unique, ranks = coded(ends)
        before = _latest_before(ranks.astype(np.int64), head)
        return np.where(before == _NONE, _NONE, unique[np.maximum(before, 0)])
    base = np.cumsum(head) * reach - earliest
    latest = np.maximum.accumulate(base + ends)
    return np.where(head, _NONE, np.concatenate([[_NONE], latest[:-1]]) - base)


def _swept_shares(times: RangeTimes, groups: Int64Array, totals_ns: Int64Array) -> OwnShare:
    cpu_ns, gpu_ns = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
    latest = np.full((int(groups.max(initial=0)) + 1, 2), _NONE)
    spans = times.start_ns, times.end_ns, times.first_call, times.last_call
    compiled(_share)(*spans, groups, totals_ns, latest, cpu_ns, gpu_ns)
    return OwnShare(cpu_ns, gpu_ns)


def _share(  # noqa: PLR0913, PLR0917 -- inputs, room to work in and outputs: numba makes no lists
    starts: Sequence[int],
    ends: Sequence[int],
    first_calls: Sequence[int],
    last_calls: Sequence[int],
    groups: Sequence[int],
    totals: Sequence[int],
    latest: Int64Array,
    cpu: MutableSequence[int],
    gpu: MutableSequence[int],
) -> None:
    """``latest`` has for each group the latest end so far, and the latest place of a call."""
    for row in range(len(starts)):
        group, first, last = groups[row], first_calls[row], last_calls[row]
        end = max(ends[row], starts[row])
        cpu[row] = max(end - max(starts[row], latest[group, 0]), 0)
        gpu[row] = totals[last] - totals[min(max(first, latest[group, 1]), last)]
        latest[group, 0], latest[group, 1] = max(latest[group, 0], end), max(latest[group, 1], last)
