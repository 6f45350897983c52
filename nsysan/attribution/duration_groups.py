"""Count, total, median and p95 of durations by key: GPU by GPU sorted by key, then places inside each group.

What is kept of many GPUs at once is how often each duration of a key occurs: kernels of one name take few different
times, however often they run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableSequence, Sequence

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.columns import as_few_bytes, concatenated, narrowed
from nsysan.model.distinct import coded, distinct, summed
from nsysan.model.tables import Table
from nsysan.timeline.compiled import compiled
from nsysan.timeline.ordering import grouped_rows
from nsysan.timeline.ranks import at_ranks

P95_PERCENT = 95
_LONGEST_NARROW_NS = np.iinfo(np.int32).max


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
    """The durations of one GPU by key, in few bytes: ``whole_ns[bounds[i]:bounds[i + 1]]`` are those of ``keys[i]``.

    ``counts`` says how often each of them occurs.
    """

    gpu_row: int
    keys: Int64Array
    bounds: Int64Array
    totals_ns: Int64Array
    whole_ns: IdArray
    counts: IdArray

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
        return cls(gpu_row, keys, bounds, totals_ns, whole_ns, np.broadcast_to(np.int8(1), len(whole_ns)))

    @classmethod
    def counted(cls, pieces: Sequence[GpuDurations]) -> GpuDurations:
        """The durations of all pieces, which are of one GPU, each duration of a key told once with its count."""
        parts: defaultdict[int, list[_Part]] = defaultdict(list)
        for one in pieces:
            for key, part in one.parts():
                parts[key].append(part)
        found = [_counted(parts[key]) for key in sorted(parts)]
        whole_ns, counts = _joined(found)
        return cls(
            gpu_row=pieces[0].gpu_row,
            keys=np.array(sorted(parts), np.int64),
            bounds=np.cumsum([0, *(len(part.whole_ns) for part in found)]),
            totals_ns=np.array([part.total_ns for part in found], np.int64),
            whole_ns=as_few_bytes(whole_ns),
            counts=narrowed("counts", counts),
        )

    def parts(self) -> Iterator[tuple[int, _Part]]:
        """Each key with its durations."""
        for place, (key, total_ns) in enumerate(zip(self.keys.tolist(), self.totals_ns.tolist(), strict=True)):
            own = slice(int(self.bounds[place]), int(self.bounds[place + 1]))
            yield key, _Part(self.gpu_row, total_ns, self.whole_ns[own], self.counts[own])


class _Part(msgspec.Struct, frozen=True, eq=False):
    """The durations of one key on one GPU, how often each occurs, and their sum inside the window."""

    gpu_row: int
    total_ns: int
    whole_ns: IdArray
    counts: IdArray


def _joined(parts: Sequence[_Part]) -> tuple[IdArray, IdArray]:
    """The durations of all parts, and how often each occurs in its part."""
    return concatenated([part.whole_ns for part in parts]), concatenated([part.counts for part in parts])


def _counted(parts: Sequence[_Part]) -> _Part:
    """The parts of one GPU as one, in which each duration is told once."""
    whole_ns, counts = _joined(parts)
    values, places = np.unique(whole_ns, return_inverse=True)
    return _Part(parts[0].gpu_row, sum(part.total_ns for part in parts), values, summed(counts, places, len(values)))


def dealt_by_key(keys: IdArray, durations_ns: Int64Array) -> GpuDurations:
    """The durations, all inside their window, by key, which is a small number; in a loop that numba compiles."""
    counts = np.bincount(keys)
    totals_ns, fills = np.zeros(len(counts), np.int64), np.cumsum(counts) - counts
    whole_ns: IdArray = np.empty(len(keys), np.int32 if durations_ns.max() <= _LONGEST_NARROW_NS else np.int64)
    compiled(_deal)(keys, durations_ns, fills, totals_ns, whole_ns)
    present = np.flatnonzero(counts)
    return GpuDurations(
        gpu_row=0,
        keys=present,
        bounds=np.concatenate([[0], np.cumsum(counts[present])]),
        totals_ns=totals_ns[present],
        whole_ns=whole_ns,
        counts=np.broadcast_to(np.int8(1), len(whole_ns)),
    )


def _deal(
    keys: Sequence[int],
    durations: Sequence[int],
    fills: MutableSequence[int],
    totals: MutableSequence[int],
    dealt: MutableSequence[int],
) -> None:
    """Write the durations key by key, those of a key as they lie, and add them to its total."""
    for row in range(len(keys)):
        key = keys[row]
        dealt[fills[key]] = durations[row]
        fills[key] += 1
        totals[key] += durations[row]


def group_durations(durations: Durations) -> Iterator[DurationGroup]:
    """One group per key, in order of key."""
    by_gpu = (durations.take(durations.gpu_row == gpu_row) for gpu_row in distinct(durations.gpu_row).tolist())
    yield from group_over_gpus([GpuDurations.of(of_gpu, int(of_gpu.gpu_row[0])) for of_gpu in by_gpu])


def group_over_gpus(gpus: Sequence[GpuDurations], group_of: Mapping[int, int] | None = None) -> Iterator[DurationGroup]:
    """One group per key of all GPUs, or per group that ``group_of`` puts keys into, in order of key or group."""
    parts: defaultdict[int, list[_Part]] = defaultdict(list)
    for gpu in gpus:
        for key, part in gpu.parts():
            parts[key if group_of is None else group_of[key]].append(part)
    for group, of_group in sorted(parts.items()):
        whole_ns, counts = _joined(of_group)
        gpu_count, total_ns = len({part.gpu_row for part in of_group}), sum(part.total_ns for part in of_group)
        count = int(counts.sum(dtype=np.int64))
        yield DurationGroup(group, count, gpu_count, total_ns, *_median_and_p95(whole_ns, counts, count))


def _median_and_p95(whole_ns: IdArray, counts: IdArray, count: int) -> tuple[float, int]:
    """The mean of the two middle values, and the nearest rank of 95 %, of ``count`` values told with their counts."""
    places = ((count - 1) // 2, count // 2, -(-P95_PERCENT * count // 100) - 1)
    if count == len(whole_ns):
        below_ns, above_ns, p95_ns = at_ranks(whole_ns, places)
    else:
        order = np.argsort(whole_ns)
        ends = np.cumsum(counts[order], dtype=np.int64)
        below_ns, above_ns, p95_ns = whole_ns[order[np.searchsorted(ends, places, side="right")]].tolist()
    return (below_ns + above_ns) / 2, p95_ns
