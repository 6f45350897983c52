"""The gaps in which a GPU did nothing: the largest of them, and all of them by size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from nsysan.analysis.gap_story import GapStory, tell_story
from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.activities import Activities
from nsysan.attribution.job import Gpu, Job
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import Int64Array
from nsysan.model.text import display_text
from nsysan.model.units import NS_PER_MS, NS_PER_S, NS_PER_US
from nsysan.timeline.intervals import Intervals

GAPS_PER_GPU = 20
GAPS_PER_JOB = 400
STORIES_PER_JOB = 10
SIZE_BOUNDS_NS = (0, 10 * NS_PER_US, 100 * NS_PER_US, NS_PER_MS, 10 * NS_PER_MS, 100 * NS_PER_MS, NS_PER_S)


@dataclass(frozen=True, slots=True)
class Gap:
    """One idle gap of a GPU's window. ``before`` ended as the gap began and ``after`` ended the gap: what ran there.

    They are null at the window's edges. ``causes`` holds the causes it has, which add up to it; null where the CUDA
    calls were not recorded. ``story`` is told of the largest gaps of the job only.
    """

    gpu: str
    start_ns: int
    end_ns: int
    duration_ns: int
    before: str | None
    after: str | None
    causes: dict[str, int] | None = None
    story: GapStory | None = None


@dataclass(frozen=True, slots=True)
class GapSizes:
    """How many gaps of a GPU are at least ``from_ns`` and shorter than ``to_ns`` (null: no bound), and their sum."""

    gpu: str
    from_ns: int
    to_ns: int | None
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class IdleGaps:
    """The largest gaps of each GPU, largest first, and every gap by size; the sizes of a GPU add up to its idle."""

    id: ClassVar[str] = "idle_gaps"

    gaps: tuple[Gap, ...]
    gap_sizes: tuple[GapSizes, ...]


def compute_idle_gaps(job: Job, _results: ResultSet) -> IdleGaps | Skipped:
    """The gaps of every GPU of the job; skipped where no GPU work was recorded."""
    if not job.gpus:
        return no_gpu_work(IdleGaps.id, job)
    largest = chain.from_iterable(_largest_gaps(job, gpu) for gpu in job.gpus)
    ordered = sorted(largest, key=lambda found: (-found[0].duration_ns, found[0].start_ns, found[0].gpu))[:GAPS_PER_JOB]
    explained = (
        _explained(job, gap, place, has_story=rank < STORIES_PER_JOB) for rank, (gap, place) in enumerate(ordered)
    )
    sizes = chain.from_iterable(_count_by_size(gpu.id, gpu.occupancy.idle()) for gpu in job.gpus)
    return IdleGaps(tuple(explained), tuple(sizes))


ANALYSIS = Analysis(IdleGaps, compute_idle_gaps, of_host=False, also="gaps")


def _largest_gaps(job: Job, gpu: Gpu) -> Iterator[tuple[Gap, int]]:
    """The largest gaps of a GPU, each with its place among all of them."""
    gaps = gpu.occupancy.idle()
    # one of no length fills nothing, so it neither begins nor ends a gap
    is_solid = gpu.activities.end_ns > gpu.activities.start_ns
    activities = gpu.activities if is_solid.all() else gpu.activities.take(is_solid)
    # latest end so far, and who holds it: what ran last before a gap
    ends_ns = np.maximum.accumulate(activities.end_ns)
    for place in _largest(gaps, GAPS_PER_GPU).tolist():
        start_ns, end_ns = int(gaps.start_ns[place]), int(gaps.end_ns[place])
        before = int(np.searchsorted(ends_ns, start_ns)) if start_ns > gpu.window_ns[0] else None
        after = int(np.searchsorted(activities.start_ns, end_ns)) if end_ns < gpu.window_ns[1] else None
        names = (_name(job, activities, before), _name(job, activities, after))
        yield Gap(gpu.id, start_ns, end_ns, end_ns - start_ns, *names), place


def _largest(gaps: Intervals, count: int) -> Int64Array:
    """The places of the ``count`` largest gaps, the largest first, of equal ones the earliest."""
    durations_ns = gaps.durations_ns
    shortest_ns = np.partition(durations_ns, -count)[-count] if len(gaps) > count else 0
    places = np.flatnonzero(durations_ns >= shortest_ns)
    largest: Int64Array = places[np.argsort(-durations_ns[places], kind="stable")][:count]
    return largest


def _explained(job: Job, gap: Gap, place: int, *, has_story: bool) -> Gap:
    """The gap at this place among its GPU's with its causes, and with its story if it is to have one."""
    gpu = next(gpu for gpu in job.gpus if gpu.id == gap.gpu)
    idle = job.idle.of_gpu(gpu)
    if idle is None:
        return gap
    causes = {f"{cause.value}_ns": time_ns for cause, time_ns in idle.causes_of_gap(place).items() if time_ns}
    return replace(gap, causes=causes, story=tell_story(job, gpu, idle, place) if has_story else None)


def _name(job: Job, activities: Activities, position: int | None) -> str | None:
    return None if position is None else display_text(job.activity_name(activities, position))


def _count_by_size(gpu_id: str, gaps: Intervals) -> Iterator[GapSizes]:
    durations_ns = gaps.durations_ns
    class_of = np.searchsorted(SIZE_BOUNDS_NS, durations_ns, side="right") - 1
    for row, (from_ns, to_ns) in enumerate(zip(SIZE_BOUNDS_NS, (*SIZE_BOUNDS_NS[1:], None), strict=True)):
        of_class = durations_ns[class_of == row]
        yield GapSizes(gpu_id, from_ns, to_ns, len(of_class), int(of_class.sum()))
