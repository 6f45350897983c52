"""Count, total, median and p95 of durations by key: one sort, then index arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.model.distinct import coded, distinct
from nsysan.model.tables import Int64Array, Table
from nsysan.timeline.ordering import grouped_order

P95_PERCENT = 95


@dataclass(frozen=True, slots=True, eq=False)
class Durations(Table):
    """Activities that ran in a window: what groups them, their GPU's place in the job, duration whole and inside it."""

    key: Int64Array
    gpu_row: Int64Array
    whole_ns: Int64Array
    inside_ns: Int64Array
    row: Int64Array
    """Where the activity stands in the list it came from."""

    def keyed_by(self, key: Int64Array) -> Durations:
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


def windowed_durations(activities: Activities, keys: Int64Array, gpu_row: int, window_ns: tuple[int, int]) -> Durations:
    """The activities that touch the window; one of no length counts where it lies inside or on an edge."""
    first_ns, last_ns = window_ns
    solid = activities.end_ns > activities.start_ns
    crosses = (activities.end_ns > first_ns) & (activities.start_ns < last_ns)
    point = ~solid & (activities.start_ns >= first_ns) & (activities.start_ns <= last_ns)
    rows = np.flatnonzero((solid & crosses) | point)
    touching = activities.take(rows)
    inside_ns = touching.end_ns.clip(first_ns, last_ns) - touching.start_ns.clip(first_ns, last_ns)
    return Durations(keys[rows], np.full(len(rows), gpu_row), touching.end_ns - touching.start_ns, inside_ns, rows)


def group_durations(durations: Durations) -> Iterator[DurationGroup]:
    """One group per key, in order of key."""
    keys, places = coded(durations.key)
    counts = np.bincount(places, minlength=len(keys))
    heads = np.cumsum(counts) - counts
    ordered = durations.take(grouped_order(places, len(keys), durations.whole_ns))
    for key, head, count in zip(keys.tolist(), heads.tolist(), counts.tolist(), strict=True):
        members = slice(head, head + count)
        whole_ns = ordered.whole_ns[members]
        yield DurationGroup(
            key=key,
            count=count,
            gpu_count=len(distinct(ordered.gpu_row[members])),
            total_ns=int(ordered.inside_ns[members].sum()),
            median_ns=(int(whole_ns[(count - 1) // 2]) + int(whole_ns[count // 2])) / 2,
            p95_ns=int(whole_ns[-(-P95_PERCENT * count // 100) - 1]),
        )
