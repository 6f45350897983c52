"""How much of a step the stages of a pipeline wait for each other, beside what its schedule cannot do without."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.collectives import Collectives, exposure_of
from nsysan.analysis.registry import Analysis
from nsysan.attribution.collectives.exposure import Exposure
from nsysan.attribution.collectives.pipelines import Pipeline, across_stages, stage_of_members
from nsysan.attribution.job import Job
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import EVEN_BUBBLE_FRAC
from nsysan.timeline.intervals import Intervals

SHOWN_PIPELINES = 64


class PipelineRow(msgspec.Struct, frozen=True):
    """A pipeline and its bubble: exposed waits for ranks of other stages, in messages and collectives.

    ``ranks`` has one rank a stage, the first first. ``bubble_by_rank_ns`` are the waits in all that is looked at: the
    ``step_count`` steady steps, mean over ranks, or the windows where there are none (null). ``bubble_frac`` is their
    share of that time, mean over ranks. ``part_count`` = messages that go each way from the first stage to the next in
    a step: m microbatches, or v times m where a rank has v pieces of the model; null without steps or where it is not
    told. ``ideal_frac`` = (p - 1) / (part_count + p - 1) for p stages that all take equally long.
    """

    ranks: tuple[int, ...]
    step_count: int | None
    part_count: int | None
    bubble_by_rank_ns: tuple[int, ...]
    bubble_frac: float
    ideal_frac: float | None

    @property
    def is_uneven(self) -> bool:
        """Whether the bubble is larger than the schedule alone makes it."""
        return self.ideal_frac is not None and self.bubble_frac > self.ideal_frac + EVEN_BUBBLE_FRAC


class Pipelines(msgspec.Struct, frozen=True):
    """The pipelines of the job, the largest bubble first; none where no messages show any."""

    id: ClassVar[str] = "pipelines"

    pipelines: tuple[PipelineRow, ...]
    pipelines_omitted_count: int

    def figures(self) -> Iterator[Figure]:
        """The bubble, mean over pipelines."""
        if self.pipelines:
            mean_frac = fmean(row.bubble_frac for row in self.pipelines)
            yield Figure(_TOPIC, "bubble", "pipeline bubble", mean_frac, Unit.FRAC, Better.LESS)


_TOPIC = Topic("pipelines", "Pipelines, mean over them")


def compute_pipelines(job: Job, results: ResultSet) -> Pipelines | Skipped:
    """The pipelines whose ranks are all given; skipped where collectives are."""
    collectives = results.get(Collectives)
    if isinstance(collectives, Skipped):
        return Skipped(Pipelines.id, collectives.reason, collectives.recapture)
    found = job.collectives.pipelines
    bubbles = _Bubbles(job, exposure_of(job), stage_of_members(found)) if found else None
    rows = [] if bubbles is None else [bubbles.row(pipeline) for pipeline in found if bubbles.judges(pipeline)]
    rows.sort(key=lambda row: (-row.bubble_frac, row.ranks))
    return Pipelines(tuple(rows[:SHOWN_PIPELINES]), max(len(rows) - SHOWN_PIPELINES, 0))


ANALYSIS = Analysis(Pipelines, compute_pipelines, needs=(Collectives,))


class _Bubbles:
    """The bubble of each member of a pipeline."""

    def __init__(self, job: Job, exposure: Exposure, stages: dict[int, int]) -> None:
        self._job = job
        self._exposure = exposure
        self._devices = {device.id: device for device in job.devices}
        self._waits_ns = self._across_stages(stages)

    def judges(self, pipeline: Pipeline) -> bool:
        """Whether all stages are devices of the job that have a window."""
        return all(
            member in self._exposure.exposed and self._looked_at(member)[0].total_ns for member in pipeline.members
        )

    def row(self, pipeline: Pipeline) -> PipelineRow:
        """The pipeline's figures."""
        looked_at = [self._looked_at(member) for member in pipeline.members]
        bubbles_ns = [
            self._exposed(member).overlap_ns(time)
            for member, (time, _) in zip(pipeline.members, looked_at, strict=True)
        ]
        counts = [count for _, count in looked_at if count is not None]
        shares = [bubble_ns / time.total_ns for bubble_ns, (time, _) in zip(bubbles_ns, looked_at, strict=True)]
        part_count = self._part_count(pipeline)
        others = len(pipeline.members) - 1
        return PipelineRow(
            ranks=tuple(self._job.collectives.ranks.of_member[member] for member in pipeline.members),
            step_count=round(sum(counts) / len(counts)) if len(counts) == len(looked_at) else None,
            part_count=part_count,
            bubble_by_rank_ns=tuple(bubbles_ns),
            bubble_frac=fmean(shares),
            ideal_frac=None if part_count is None else others / (part_count + others),
        )

    def _across_stages(self, stages: dict[int, int]) -> dict[int, list[np.ndarray]]:
        """By member, begin and length of its waits in what ranks of several stages run together."""
        operations = self._job.collectives.operations
        found: dict[int, list[np.ndarray]] = {member: [] for member in stages}
        for one in across_stages(self._job.collectives.measured, stages):
            for column, member in enumerate(one.series.members):
                if member in found and one.waits is not None:
                    start_ns = operations.start_ns[one.complete_table[:, column]]
                    found[member].append(np.stack([start_ns, one.waits.wait_ns[:, column]]))
        return found

    def _exposed(self, member: int) -> Intervals:
        start_ns, wait_ns = np.concatenate(self._waits_ns[member], axis=1)
        return self._exposure.exposed_where(member, start_ns, start_ns + wait_ns)

    def _looked_at(self, member: int) -> tuple[Intervals, int | None]:
        """The member's steady steps and how many there are, or its window."""
        device = self._devices[self._job.collectives.members[member].id]
        steps = steady_steps(self._job, device)
        if steps is not None:
            return steps, len(steps)
        bounds_ns = device.occupancy.bounds_ns
        return Intervals(bounds_ns[:1], bounds_ns[-1:]), None

    def _part_count(self, pipeline: Pipeline) -> int | None:
        """How often the first stage sends to the next in a step, None where that is not told or no whole number."""
        member, found = pipeline.members[0], self._job.collectives
        time, step_count = self._looked_at(member)
        if step_count is None:
            return None
        pieces = []
        for place in pipeline.boundaries[0]:
            series = found.measured[place].series
            rows = series.table[:, series.members.index(member)]
            pieces.append(rows[rows >= 0])
        rows = np.concatenate(pieces)
        start_ns, messages = found.operations.start_ns[rows], found.operations.message_count[rows]
        step = np.searchsorted(time.start_ns, start_ns, side="right") - 1
        inside = (step >= 0) & (start_ns < time.end_ns[np.maximum(step, 0)])
        each_way = np.median(np.bincount(step[inside], weights=messages[inside], minlength=len(time))) / 2
        return int(each_way) if each_way >= 1 and float(each_way).is_integer() else None
