"""The true partition of a GPU's window: a plain event sweep, written apart from the one that is tested against it.

Every work of a simulation that is recorded takes some time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from nsysan.model.partition import Activity, Part, PartTimes, part_of
from nsysan.synth.simulation.timelines import GpuWork

Interval = tuple[int, int]


def window_of(works: Iterable[GpuWork]) -> Interval:
    """First start to last end of any work."""
    times = [(work.start_ns, work.end_ns) for work in works]
    return min(start for start, _ in times), max(end for _, end in times)


def part_times(works: Iterable[GpuWork]) -> PartTimes:
    """Time per part over the window of ``works``."""
    times: Counter[Part] = Counter()
    for start_ns, end_ns, running in _moments(works):
        times[part_of(running)] += end_ns - start_ns
    return PartTimes(**{f"{part.value}_ns": times[part] for part in Part})


def idle_gaps(works: Iterable[GpuWork]) -> list[Interval]:
    """The maximal spans of the window in which nothing runs."""
    gaps = []
    busy_until_ns: int | None = None
    for start_ns, end_ns in sorted((work.start_ns, work.end_ns) for work in works):
        if busy_until_ns is not None and start_ns > busy_until_ns:
            gaps.append((busy_until_ns, start_ns))
        busy_until_ns = end_ns if busy_until_ns is None else max(busy_until_ns, end_ns)
    return gaps


def _moments(works: Iterable[GpuWork]) -> Iterator[tuple[int, int, Activity]]:
    """The window cut wherever a work starts or ends, with what runs in each piece."""
    edges = sorted(
        edge
        for work in works
        for edge in ((work.start_ns, 1, work.task.activity), (work.end_ns, -1, work.task.activity))
    )
    running: Counter[Activity] = Counter()
    for (time_ns, change, activity), (next_time_ns, _, _) in pairwise(edges):
        running[activity] += change
        kinds = Activity(sum(kind for kind, count in running.items() if count))
        yield time_ns, next_time_ns, kinds
