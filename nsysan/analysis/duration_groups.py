"""Count, total, median and p95 of durations by key: one sort of keys, then places inside each group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.model.distinct import coded
from nsysan.model.tables import IdArray, Int64Array, Table
from nsysan.timeline.ordering import grouped_rows

P95_PERCENT = 95


@dataclass(frozen=True, slots=True, eq=False)
class Durations(Table):
    """Activities that ran in a window: what groups them, their GPU's place in the job, duration whole and inside it."""

    key: IdArray
    gpu_row: IdArray
    whole_ns: Int64Array
    inside_ns: Int64Array
    row: Int64Array
    """Where the activity stands in the list it came from."""

    def keyed_by(self, key: IdArray) -> Durations:
        """The same activities, grouped by something else."""
        return Durations(key, self.gpu_row, self.whole_ns, self.inside_ns, self.row)


@dataclass(frozen=True, slots=True)
class DurationGroup:
    """The activities of one key: ``total_ns`` inside the window, median and p95 (nearest rank) of whole durations."""

    key: int
    count: int
    gpu_count: int
    total_ns: int
    median_ns: float
    p95_ns: int


def windowed_durations(activities: Activities, keys: IdArray, gpu_row: int, window_ns: tuple[int, int]) -> Durations:
    """The activities that touch the window; one of no length counts where it lies inside or on an edge."""
    first_ns, last_ns = window_ns
    start_ns, end_ns = activities.start_ns, activities.end_ns
    crosses = (end_ns > start_ns) & (end_ns > first_ns) & (start_ns < last_ns)
    point = (end_ns == start_ns) & (start_ns >= first_ns) & (start_ns <= last_ns)
    rows = np.flatnonzero(crosses | point)
    start_ns, end_ns = start_ns[rows], end_ns[rows]
    return Durations(
        key=keys[rows],
        gpu_row=np.full(len(rows), gpu_row, np.int32),
        whole_ns=end_ns - start_ns,
        inside_ns=end_ns.clip(first_ns, last_ns) - start_ns.clip(first_ns, last_ns),
        row=rows,
    )


def group_durations(durations: Durations) -> Iterator[DurationGroup]:
    """One group per key, in order of key."""
    if not len(durations):
        return
    keys, places = coded(durations.key)
    counts = np.bincount(places)
    heads = np.cumsum(counts) - counts
    rows = grouped_rows(places, len(keys))
    whole_ns = durations.whole_ns[rows]
    totals_ns = np.add.reduceat(durations.inside_ns[rows], heads)
    gpu_counts = _gpu_counts(places, durations.gpu_row)
    columns = (column.tolist() for column in (keys, heads, counts, totals_ns, gpu_counts))
    for key, head, count, total_ns, gpu_count in zip(*columns, strict=True):
        yield DurationGroup(key, count, gpu_count, total_ns, *_median_and_p95(whole_ns[head : head + count]))


def _gpu_counts(places: Int64Array, gpu_rows: IdArray) -> Int64Array:
    """On how many GPUs each place occurs."""
    occurs = np.zeros((int(places.max()) + 1, int(gpu_rows.max()) + 1), np.bool_)
    occurs[places, gpu_rows] = True
    counts: Int64Array = occurs.sum(axis=1)
    return counts


def _median_and_p95(whole_ns: Int64Array) -> tuple[float, int]:
    """The mean of the two middle values, and the nearest rank of 95 %."""
    count = len(whole_ns)
    below, above, p95 = (count - 1) // 2, count // 2, -(-P95_PERCENT * count // 100) - 1
    placed_ns = np.partition(whole_ns, (below, above, p95))
    return (int(placed_ns[below]) + int(placed_ns[above])) / 2, int(placed_ns[p95])
