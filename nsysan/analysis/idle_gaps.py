"""The gaps in which a GPU did nothing: the largest of them, and all of them by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from nsysan.analysis.gap_story import GapStory, tell_story
from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.of_reports import OfReport, answered
from nsysan.analysis.registry import Analysis
from nsysan.attribution.devices import Gpu
from nsysan.attribution.gap_sums import GapSums, LargeGap
from nsysan.attribution.job import Job
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text
from nsysan.timeline.gap_sizes import SIZE_BOUNDS_NS

GAPS_PER_JOB = 400
STORIES_PER_JOB = 10


class Gap(msgspec.Struct, frozen=True):
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


class GapSizes(msgspec.Struct, frozen=True):
    """How many gaps of a GPU are at least ``from_ns`` and shorter than ``to_ns`` (null: no bound), and their sum."""

    gpu: str
    from_ns: int
    to_ns: int | None
    count: int
    total_ns: int


class IdleGaps(msgspec.Struct, frozen=True):
    """The largest gaps of each GPU, largest first, and every gap by size; the sizes of a GPU add up to its idle."""

    id: ClassVar[str] = "idle_gaps"

    gaps: tuple[Gap, ...]
    gap_sizes: tuple[GapSizes, ...]


def compute_idle_gaps(job: Job, _results: ResultSet) -> IdleGaps | Skipped:
    """The gaps of every GPU of the job; skipped where no GPU work was recorded."""
    if not job.gpus:
        return no_gpu_work(IdleGaps.id, job)
    found = ((gpu, gap) for gpu in job.gpus for gap in job.sums.of_gpu(gpu).gaps.largest)
    ordered = sorted(found, key=lambda pair: (-pair[1].duration_ns, pair[1].start_ns, pair[0].id))[:GAPS_PER_JOB]
    told = (_told(job, gpu, gap, has_story=rank < STORIES_PER_JOB) for rank, (gpu, gap) in enumerate(ordered))
    sizes = chain.from_iterable(_sizes(gpu.id, job.sums.of_gpu(gpu).gaps) for gpu in job.gpus)
    return IdleGaps(tuple(told), tuple(sizes))


def merge_idle_gaps(_job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> IdleGaps | Skipped:
    """The gaps of all reports: whatever is among the largest of all is among those of its report."""
    found = answered(parts, IdleGaps)
    gaps = (replace(gap, gpu=part.gpus[gap.gpu]) for part, told in found for gap in told.gaps)
    ordered = sorted(gaps, key=lambda gap: (-gap.duration_ns, gap.start_ns, gap.gpu))[:GAPS_PER_JOB]
    told_of = (replace(gap, story=gap.story if rank < STORIES_PER_JOB else None) for rank, gap in enumerate(ordered))
    sizes = (replace(size, gpu=part.gpus[size.gpu]) for part, told in found for size in told.gap_sizes)
    return IdleGaps(tuple(told_of), tuple(sizes))


ANALYSIS = Analysis(IdleGaps, compute_idle_gaps, of_host=False, of_sums=True, merge=merge_idle_gaps, also="gaps")


def _told(job: Job, gpu: Gpu, gap: LargeGap, *, has_story: bool) -> Gap:
    """The gap with its causes, and with its story if it is to have one."""
    before, after = (None if name is None else display_text(name) for name in (gap.before, gap.after))
    told = Gap(gpu.id, gap.start_ns, gap.end_ns, gap.duration_ns, before, after)
    idle = job.idle.of_gpu(gpu)
    if idle is None:
        return told
    causes = {
        f"{cause.value}_ns": time_ns
        for cause, time_ns in idle.causes_of_gap(gap.start_ns, gap.end_ns).items()
        if time_ns
    }
    return replace(
        told, causes=causes, story=tell_story(job, gpu, idle, (gap.start_ns, gap.end_ns)) if has_story else None
    )


def _sizes(gpu_id: str, gaps: GapSums) -> Iterator[GapSizes]:
    bounds_ns = zip(SIZE_BOUNDS_NS, (*SIZE_BOUNDS_NS[1:], None), strict=True)
    for (from_ns, to_ns), count, total_ns in zip(bounds_ns, gaps.counts.tolist(), gaps.totals_ns.tolist(), strict=True):
        yield GapSizes(gpu_id, from_ns, to_ns, count, total_ns)
