"""Count, total, median and p95 of durations by key: GPU by GPU sorted by key, then places inside each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.columns import as_few_bytes, concatenated
from nsysan.model.distinct import coded, distinct, summed
from nsysan.model.tables import Table
from nsysan.timeline.ordering import grouped_rows

P95_PERCENT = 95


class Durations(Table, frozen=True):
    """Activities that ran in a window: what groups them, their GPU's place in the job, duration whole and inside it."""

    key: IdArray
    gpu_row: IdArray
    whole_ns: Int64Array
    inside_ns: Int64Array
    row: Int64Array
    """Where the activity stands in the list it came from."""


class DurationGroup(msgspec.Struct, frozen=True):
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
        gpu_row=np.broadcast_to(np.int32(gpu_row), len(rows)),
        whole_ns=end_ns - start_ns,
        inside_ns=end_ns.clip(first_ns, last_ns) - start_ns.clip(first_ns, last_ns),
        row=rows,
    )


class GpuDurations(msgspec.Struct, frozen=True, eq=False):
    """The durations of one GPU by key, in few bytes: ``whole_ns[bounds[i]:bounds[i + 1]]`` are those of ``keys[i]``."""

    gpu_row: int
    keys: Int64Array
    bounds: Int64Array
    totals_ns: Int64Array
    whole_ns: IdArray

    @classmethod
    def of(cls, durations: Durations, gpu_row: int) -> GpuDurations:
        """The durations, all of which are of that GPU."""
        keys, places = coded(durations.key)
        bounds = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=len(keys)))])
        rows = grouped_rows(places, len(keys))
        whole_ns = as_few_bytes(durations.whole_ns)[rows]
        if durations.inside_ns is durations.whole_ns:
            totals_ns = np.add.reduceat(whole_ns, bounds[:-1], dtype=np.int64) if len(keys) else bounds[:-1]
        else:
            totals_ns = summed(durations.inside_ns, places, len(keys))
        return cls(gpu_row, keys, bounds, totals_ns, whole_ns)


def group_durations(durations: Durations) -> Iterator[DurationGroup]:
    """One group per key, in order of key."""
    by_gpu = (durations.take(durations.gpu_row == gpu_row) for gpu_row in distinct(durations.gpu_row).tolist())
    yield from group_over_gpus([GpuDurations.of(of_gpu, int(of_gpu.gpu_row[0])) for of_gpu in by_gpu])


def group_over_gpus(gpus: Sequence[GpuDurations], group_of: Mapping[int, int] | None = None) -> Iterator[DurationGroup]:
    """One group per key of all GPUs, or per group that ``group_of`` puts keys into, in order of key or group."""
    parts: defaultdict[int, list[_Part]] = defaultdict(list)
    for gpu in gpus:
        for place, (key, total_ns) in enumerate(zip(gpu.keys.tolist(), gpu.totals_ns.tolist(), strict=True)):
            whole_ns = gpu.whole_ns[gpu.bounds[place] : gpu.bounds[place + 1]]
            parts[key if group_of is None else group_of[key]].append(_Part(gpu.gpu_row, total_ns, whole_ns))
    for group, of_group in sorted(parts.items()):
        whole_ns = concatenated([part.whole_ns for part in of_group])
        gpu_count, total_ns = len({part.gpu_row for part in of_group}), sum(part.total_ns for part in of_group)
        yield DurationGroup(group, len(whole_ns), gpu_count, total_ns, *_median_and_p95(whole_ns))


class _Part(msgspec.Struct, frozen=True, eq=False):
    """The durations of one key on one GPU, and their sum inside the window."""

    gpu_row: int
    total_ns: int
    whole_ns: IdArray


def _median_and_p95(whole_ns: IdArray) -> tuple[float, int]:
    """The mean of the two middle values, and the nearest rank of 95 %."""
    count = len(whole_ns)
    below, above, p95 = (count - 1) // 2, count // 2, -(-P95_PERCENT * count // 100) - 1
    placed_ns = np.partition(whole_ns, (below, above, p95))
    return (int(placed_ns[below]) + int(placed_ns[above])) / 2, int(placed_ns[p95])
