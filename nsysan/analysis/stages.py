"""What each training step does when: data, copy of the batch, forward, backward, gradients, optimizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.of_reports import OfReport, answered, skipped_by_all
from nsysan.analysis.registry import Analysis
from nsysan.analysis.steps import listed_count, without_steps
from nsysan.attribution.devices import Device
from nsysan.attribution.job import Job
from nsysan.attribution.stages.codes import SOURCES, STAGES
from nsysan.attribution.stages.device import StepStages
from nsysan.attribution.stages.tiles import NOT_ASSIGNED
from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.steady import judge_steps, mean_of_steps
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import Int64Array
from nsysan.model.confidence import Confidence
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.partition import Part, PartTimes
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.stages import Stage
from nsysan.model.thresholds import SURE_STAGE_FRAC, UNSURE_STAGE_FRAC

_STEP_STAGES = Topic("step_stages", "The mean steady step by stage, mean over devices")


class ToldBy(msgspec.Struct, frozen=True):
    """The shares of a stage's time by what tells that it is of the stage; they add up to 1."""

    ranges_frac: float
    kernels_frac: float
    order_frac: float


class StageTime(msgspec.Struct, frozen=True):
    """One stage in the mean steady step: time of the device by part, which adds up to ``gpu_ns``, and of the host.

    ``stage`` is null for what belongs to no known stage, and then so are ``told_by`` and ``confidence``. ``step_frac``
    is the share of the step. ``host_ns`` is the host's time from the launch of a step's first kernel to that of the
    next step's; null where the calls were not recorded.
    """

    stage: Stage | None
    gpu_ns: int
    step_frac: float
    time: PartTimes
    host_ns: int | None
    told_by: ToldBy | None
    confidence: Confidence | None


class StagesOfStep(msgspec.Struct, frozen=True):
    """The time of one closed step by stage, as ``<stage>_ns`` of those it has; ``unassigned_ns`` is of none."""

    start_ns: int
    stages: dict[str, int]
    excluded: Exclusion | None


class StagesOfDevice(msgspec.Struct, frozen=True):
    """The stages of a device's mean steady step, in their order; those without time are left out.

    ``step_ns`` is that step, which the stages add up to, ``count`` of how many steps it is the mean. ``coverage_frac``
    is the share of the step that belongs to a known stage.
    """

    device: str
    count: int
    step_ns: int
    coverage_frac: float
    confidence: Confidence
    stages: tuple[StageTime, ...]
    list: tuple[StagesOfStep, ...]


class Stages(msgspec.Struct, frozen=True):
    """The stages of every device that has steady steps."""

    id: ClassVar[str] = "stages"

    stages: tuple[StagesOfDevice, ...]

    def figures(self) -> Iterator[Figure]:
        """The time of each stage in the mean steady step, mean over devices; what is of none last."""
        count = len(self.stages)
        for stage in (*Stage, None):
            times_ns = [found.gpu_ns for device in self.stages for found in device.stages if found.stage is stage]
            key, name = ("unassigned", "no known stage") if stage is None else (stage.value, stage.value)
            yield Figure(_STEP_STAGES, key, spelled(name), sum(times_ns) / count, Unit.NS, Better.LESS)


def compute_stages(job: Job, _results: ResultSet) -> Stages | Skipped:
    """The stages of every device; skipped where no step is steady, or none of any belongs to a known stage."""
    if not job.gpus:
        return no_gpu_work(Stages.id, job)
    found = [(device, steps) for device in job.devices if (steps := job.steps.of_device(device)[1]) is not None]
    if not found:
        return without_steps(Stages.id, job)
    listed = listed_count(len(found))
    devices = [of_device for device, steps in found if (of_device := _of_device(job, device, steps, listed))]
    if not devices:
        return Skipped(Stages.id, "no step is steady, so there is none to take apart", None)
    return Stages(tuple(devices))


def merge_stages(_job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> Stages | Skipped:
    """The stages of every device of all reports."""
    found = answered(parts, Stages)
    listed = listed_count(sum(part.stepping_count for part in parts))
    rows = (
        replace(row, device=part.device(row.device), list=row.list[:listed])
        for part, told in found
        for row in told.stages
    )
    return Stages(tuple(rows)) if found else skipped_by_all(parts, Stages)


ANALYSIS = Analysis(Stages, compute_stages, merge=merge_stages)


def _of_device(job: Job, device: Device, steps: DeviceSteps, listed: int) -> StagesOfDevice | None:
    judged = judge_steps(job, device, steps)
    steady, staged = judged.steady, job.stages.staged_work(device)
    if staged is None or not len(steady):
        return None
    idle = job.idle.of_device(device)
    found = staged.step_times(None if idle is None else idle.pieces)
    stages = tuple(_stage_times(found, steady))
    step_ns = sum(stage.gpu_ns for stage in stages)
    known_ns = sum(stage.gpu_ns for stage in stages if stage.stage is not None)
    by_source_ns = found.device_ns[steady, :NOT_ASSIGNED].reshape(-1, len(SOURCES), len(Part)).sum(axis=(0, 2))
    told = _told_by(by_source_ns)
    return StagesOfDevice(
        device=device.id,
        count=len(steady),
        step_ns=step_ns,
        coverage_frac=known_ns / step_ns,
        confidence=Confidence.LOW if told is None else _confidence(told),
        stages=stages,
        list=tuple(_list(steps, found.device_ns, judged.excluded, min(listed, len(steps)))),
    )


def _stage_times(found: StepStages, steady: Int64Array) -> Iterator[StageTime]:
    """The stages that take any time of the device or the host in the mean of these steps, what is of none last."""
    times_ns = found.device_ns[steady]
    by_label_ns = np.array(mean_of_steps(times_ns.reshape(len(steady), -1))).reshape(times_ns.shape[1:])
    by_source_ns = by_label_ns[:NOT_ASSIGNED].reshape(len(STAGES), len(SOURCES), len(Part))
    parts_ns = np.concatenate([by_source_ns.sum(axis=1), by_label_ns[NOT_ASSIGNED:]])
    host_ns = None if found.host_ns is None else mean_of_steps(found.host_ns[steady])
    step_ns = int(parts_ns.sum())
    for place, stage in enumerate((*STAGES, None)):
        gpu_ns = int(parts_ns[place].sum())
        if gpu_ns or (host_ns is not None and host_ns[place]):
            told = None if stage is None else _told_by(by_source_ns[place].sum(axis=1))
            yield StageTime(
                stage=stage,
                gpu_ns=gpu_ns,
                step_frac=gpu_ns / step_ns,
                time=PartTimes(*parts_ns[place].tolist()),
                host_ns=None if host_ns is None else host_ns[place],
                told_by=told,
                confidence=None if told is None else _confidence(told),
            )


def _told_by(by_source_ns: Int64Array) -> ToldBy | None:
    """The shares of the sources, None where there is no time."""
    total_ns = int(by_source_ns.sum())
    return ToldBy(*(by_source_ns / total_ns).tolist()) if total_ns else None


def _confidence(told: ToldBy) -> Confidence:
    if told.ranges_frac >= SURE_STAGE_FRAC:
        return Confidence.HIGH
    return Confidence.LOW if told.order_frac > UNSURE_STAGE_FRAC else Confidence.MEDIUM


def _list(
    steps: DeviceSteps, times_ns: Int64Array, excluded: Sequence[Exclusion | None], count: int
) -> Iterator[StagesOfStep]:
    of_labels_ns = times_ns[:count].sum(axis=2)
    of_stages_ns = of_labels_ns[:, :NOT_ASSIGNED].reshape(count, len(STAGES), len(SOURCES)).sum(axis=2)
    totals_ns = np.concatenate([of_stages_ns, of_labels_ns[:, NOT_ASSIGNED:]], axis=1).tolist()
    names = (*(f"{stage.value}_ns" for stage in STAGES), "unassigned_ns")
    for row in range(count):
        present = {name: time for name, time in zip(names, totals_ns[row], strict=True) if time}
        yield StagesOfStep(int(steps.bounds_ns[row]), present, excluded[row])
