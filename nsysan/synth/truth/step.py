"""Training steps on the GPU: they tile it from the first kernel of one step to the first of the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

import msgspec

from nsysan.model.partition import Activity
from nsysan.model.thresholds import WARM_UP_FACTOR
from nsysan.synth.simulation.program import TaskKind
from nsysan.synth.simulation.timelines import GpuWork, Range, RankTimeline, Simulation


class StepTime(msgspec.Struct, frozen=True):
    """A step of one rank's GPU; ``marker`` is the text of its NVTX range, None where there is no such range."""

    marker: str | None
    start_ns: int
    end_ns: int


def steps_of(timeline: RankTimeline) -> tuple[StepTime, ...]:
    """The closed steps of a rank; the last marker's step has no end and is left out.

    Step k begins with the first kernel on the main compute stream whose launch call begins inside marker k.
    """
    return tuple(
        StepTime(marker, kernel.start_ns, following.start_ns)
        for (marker, kernel), (_, following) in pairwise(first_kernels(timeline))
    )


def mean_step_ns(simulation: Simulation) -> float:
    """The mean closed step of the rank for which it is longest, without the first ones that are warm-up on any rank.

    Warm-up are the first steps as long as they take over 1.5 medians of their rank: there it may wait for what another
    did before its own first step.
    """
    steps = [steps_of(timeline) for timeline in simulation.ranks]
    warm_up_count = max(map(_warm_up_count, steps))
    return max(_mean_step_ns(own[warm_up_count:] or own) for own in steps)


def _warm_up_count(steps: tuple[StepTime, ...]) -> int:
    durations_ns = [step.end_ns - step.start_ns for step in steps]
    longest_ns = WARM_UP_FACTOR * median(durations_ns)
    return next((row for row, duration_ns in enumerate(durations_ns) if duration_ns <= longest_ns), 0)


def _mean_step_ns(steps: tuple[StepTime, ...]) -> float:
    return (steps[-1].end_ns - steps[0].start_ns) / len(steps)


def first_kernels(timeline: RankTimeline) -> Iterator[tuple[str | None, GpuWork]]:
    """The text of each marker, and the kernel with which its step begins."""
    stream_id = _main_stream(timeline)
    kernels = [
        work for work in timeline.works if work.stream_id == stream_id and work.task.kind is TaskKind.KERNEL
    ]  # in the order of their calls
    position = 0
    for marker in sorted(_markers(timeline), key=lambda marker: marker.start_ns):
        while kernels[position].call.start_ns < marker.start_ns:
            position += 1
        yield marker.text, kernels[position]


def _markers(timeline: RankTimeline) -> Iterator[Range]:
    return (found for found in timeline.ranges if found.marks_step)


def _main_stream(timeline: RankTimeline) -> int:
    """The stream with most compute time."""
    times: Counter[int] = Counter()
    for work in timeline.works:
        if work.task.activity is Activity.COMPUTE:
            times[work.stream_id] += work.end_ns - work.start_ns
    return times.most_common(1)[0][0]
