"""The true stages of a rank's steps: the simulated program knows what it does; a plain sweep over all that runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

import msgspec

from nsysan.model.partition import Activity, Part, PartTimes, part_of
from nsysan.model.stages import Stage
from nsysan.synth.simulation.timelines import GpuWork, Range, RankTimeline, Span
from nsysan.synth.truth.step import first_kernels

_IN_ORDER = (Activity.COMPUTE, Activity.FUSED, Activity.GRAPH, Activity.COMMUNICATION, Activity.COPY)
"""Which kind of work a moment belongs with where several run."""

StageById = dict[int, Stage]
"""The stage of each work, by the identity of the object."""


class StageTruth(msgspec.Struct, frozen=True):
    """A stage in all closed steps of a rank: the time of its GPU by part, and that of its host.

    The host's time counts from the launch of the first step's first kernel to that of the open step's. It belongs to
    the stage of the range it is in, if that is seen, else to that of the work launched next.
    """

    stage: Stage
    time: PartTimes
    host_ns: int


def stage_truths(timeline: RankTimeline) -> tuple[StageTruth, ...]:
    """Every stage, in their order, whether it has any time or none."""
    bounds = [kernel for _, kernel in first_kernels(timeline)]
    first, last = bounds[0], bounds[-1]
    works = sorted(timeline.works, key=lambda work: work.call.start_ns)
    stages = dict(zip(map(id, works), _stages_at([work.call.start_ns for work in works], timeline.ranges), strict=True))
    times: Counter[tuple[Stage, Part]] = Counter()
    for start_ns, end_ns, stage, part in _pieces(timeline, stages):
        times[stage, part] += max(min(end_ns, last.start_ns) - max(start_ns, first.start_ns), 0)
    host = _host_times(timeline, stages, (first.call.start_ns, last.call.start_ns))
    return tuple(
        StageTruth(stage, PartTimes(**{f"{part.value}_ns": times[stage, part] for part in Part}), host[stage])
        for stage in Stage
    )


def _stages_at(times_ns: Sequence[int], ranges: Sequence[Range]) -> Iterator[Stage]:
    """The stage of the innermost range at each of these moments, which ascend; ``OTHER`` outside of all."""
    waiting = sorted((found for found in ranges if found.stage), key=lambda found: (-found.start_ns, found.end_ns))
    around: list[Range] = []
    for time_ns in times_ns:
        while waiting and waiting[-1].start_ns <= time_ns:
            around.append(waiting.pop())
        while around and around[-1].end_ns <= time_ns:
            around.pop()
        # a range that ended may lie below one that holds, but never around it
        yield (around[-1].stage if around else None) or Stage.OTHER


def _pieces(timeline: RankTimeline, stages: StageById) -> Iterator[tuple[int, int, Stage, Part]]:
    """The window cut wherever anything starts or ends, with the stage and the part of each piece."""
    edges = sorted({edge for work in timeline.works for edge in (work.start_ns, work.end_ns)})
    waiting = sorted(timeline.works, key=lambda work: -work.start_ns)
    running: list[GpuWork] = []
    loading = [span for span in timeline.spans if span.cause == "data_loading"]
    for start_ns, end_ns in pairwise(edges):
        while waiting and waiting[-1].start_ns <= start_ns:
            running.append(waiting.pop())
        running = [work for work in running if work.end_ns > start_ns]
        if running:
            part = part_of(Activity(sum({work.task.activity for work in running})))
            yield start_ns, end_ns, stages[id(min(running, key=_rank))], part
        else:
            beginning = list(takewhile(lambda work: work.start_ns == end_ns, reversed(waiting)))  # noqa: B023 -- used here
            yield from _idle_pieces(loading, (start_ns, end_ns), beginning, stages)


def _rank(work: GpuWork) -> tuple[int, int, int]:
    """The kind that comes first, of a kind what began first, of equal begins the longest."""
    return _IN_ORDER.index(work.task.activity), work.start_ns, -work.end_ns


def _idle_pieces(
    loading: Sequence[Span], gap: tuple[int, int], beginning: Sequence[GpuWork], stages: StageById
) -> Iterator[tuple[int, int, Stage, Part]]:
    """Idle time is of the stage that ends it, but for what passes while a batch is loaded, before that is called."""
    start_ns, end_ns = gap
    called_ns = min(work.call.start_ns for work in beginning)
    stage = stages[id(min(beginning, key=_rank))]
    for span in loading:
        if span.start_ns < min(end_ns, called_ns) and span.end_ns > start_ns:
            begin_ns, stop_ns = max(span.start_ns, start_ns), min(span.end_ns, end_ns, called_ns)
            yield begin_ns, stop_ns, Stage.DATA, Part.IDLE
            yield start_ns, begin_ns, stage, Part.IDLE
            start_ns = stop_ns
    yield start_ns, end_ns, stage, Part.IDLE


def _host_times(timeline: RankTimeline, stages: StageById, bounds_ns: tuple[int, int]) -> Counter[Stage]:
    seen = [found for found in timeline.ranges if found.text is not None and found.stage]
    spans = [span for span in timeline.spans if bounds_ns[0] <= span.start_ns < bounds_ns[1]]
    launches = sorted(((work.call.start_ns, stages[id(work)]) for work in timeline.works), reverse=True)
    times: Counter[Stage] = Counter()
    for span, stage in zip(spans, _stages_at([span.start_ns for span in spans], seen), strict=True):
        while launches[-1][0] < span.start_ns:
            launches.pop()
        in_range = stage is not Stage.OTHER
        times[stage if in_range else launches[-1][1]] += span.end_ns - span.start_ns
    return times
