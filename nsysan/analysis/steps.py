"""The training steps of each device: how long they take, where their time goes, and how they are spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.of_reports import OfReport, answered, skipped_by_all
from nsysan.analysis.registry import Analysis
from nsysan.analysis.step_figures import step_figures
from nsysan.analysis.steps_of_device import Step, StepsOfDevice
from nsysan.attribution.devices import Device
from nsysan.attribution.idle.codes import CAUSES
from nsysan.attribution.job import Job
from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.job_steps import StepSource
from nsysan.attribution.steps.judged import JudgedSteps
from nsysan.attribution.steps.steady import judge_steps, mean_of_steps
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.figures import Bearing, Condition, Figure
from nsysan.model.idle import IdleCauses
from nsysan.model.partition import PartTimes
from nsysan.model.profilers import RECORD_HOST, Recapture
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text
from nsysan.model.thresholds import SLOW_STEP_FACTOR
from nsysan.timeline.coverage import coverage

STEPS_PER_JOB = 4_000
FEWEST_PER_DEVICE = 6
"""With 1,024 devices these keep ``run.json`` under 20 MB."""
FEWEST_FOR_TREND = 6
FEWEST_FOR_DISTANCE = 3
_MARKED_STEPS = Recapture(
    nsys="Mark each step with an NVTX range that numbers it, or name its ranges with --marker.",
    torch="Call the profiler's step() after each step, or name the annotations of steps with --marker.",
)


class ExcludedSteps(msgspec.Struct, frozen=True):
    """How many closed steps of a device are not counted, and why."""

    device: str
    reason: Exclusion
    count: int


class StepTable(msgspec.Struct, frozen=True):
    """The steps of all devices that have any.

    ``marker`` is the name that the markers of all devices share, null where these differ or there are none.
    """

    source: StepSource
    marker: str | None
    excluded: tuple[ExcludedSteps, ...]
    devices: tuple[StepsOfDevice, ...]

    @property
    def mean_ns(self) -> float | None:
        """The job's mean step: that of the device for which it is longest; None where no step is steady."""
        return max((device.mean_ns for device in self.devices if device.mean_ns is not None), default=None)


class Steps(msgspec.Struct, frozen=True):
    """The training steps."""

    id: ClassVar[str] = "steps"

    steps: StepTable

    def figures(self) -> Iterator[Figure]:
        """The mean steady step, and what adds up to it: parts, and the causes of its idle time; means over devices."""
        return step_figures(self.steps.devices)

    def conditions(self) -> Iterator[Condition]:
        """What tells where steps begin."""
        marker = "" if self.steps.marker is None else f": {self.steps.marker}"
        yield Condition("steps", "steps told by", f"{self.steps.source.value}{marker}", Bearing.CAUTIONS)


class _Cut(msgspec.Struct, frozen=True, eq=False):
    """A device's steps with what their time went to: one row a step."""

    judged: JudgedSteps
    parts_ns: Int64Array


def compute_steps(job: Job, _results: ResultSet) -> Steps | Skipped:
    """The steps of every device of the job; skipped where none can be told."""
    if not job.gpus:
        return no_gpu_work(Steps.id, job)
    found = [(device, *job.steps.of_device(device)) for device in job.devices]
    cuts = [(device, source, _cut(job, device, steps)) for device, source, steps in found if steps is not None]
    if not cuts:
        return without_steps(Steps.id, job)
    listed = listed_count(len(cuts))
    devices = tuple(_of_device(job, device, source, cut, listed) for device, source, cut in cuts)
    return Steps(_table(devices, tuple(entry for device, _, cut in cuts for entry in _excluded(device, cut))))


def merge_steps(_job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> Steps | Skipped:
    """The steps of every device of all reports."""
    found = answered(parts, Steps)
    if not found:
        return skipped_by_all(parts, Steps)
    listed = listed_count(sum(part.stepping_count for part in parts))
    devices = tuple(
        replace(device, id=part.device(device.id), list=device.list[:listed])
        for part, told in found
        for device in told.steps.devices
    )
    excluded = (
        replace(entry, device=part.device(entry.device)) for part, told in found for entry in told.steps.excluded
    )
    return Steps(_table(devices, tuple(excluded)))


ANALYSIS = Analysis(Steps, compute_steps, merge=merge_steps)


def listed_count(device_count: int) -> int:
    """How many steps of each device are listed."""
    return max(FEWEST_PER_DEVICE, STEPS_PER_JOB // max(device_count, 1))


def _table(devices: tuple[StepsOfDevice, ...], excluded: tuple[ExcludedSteps, ...]) -> StepTable:
    sources = {device.source for device in devices}
    source = StepSource.NVTX if StepSource.NVTX in sources else StepSource.HEURISTIC
    return StepTable(source, _shared_marker(devices), excluded, devices)


def without_steps(question: str, job: Job) -> Skipped:
    """Why a question about steps has no answer where no device of the job has a closed one."""
    profilers = {trace.profiler for trace in job.traces}
    if job.steps.markers and not any(len(threads.host.calls) for threads in job.idle.threads):
        reason = "ranges mark steps, but no CUDA calls were recorded, which tell what each step launched"
        return Skipped(question, reason, RECORD_HOST.by(profilers))
    if job.steps.markers:
        reason = "ranges mark steps, but no step that a next one closes lies in the window"
        return Skipped(question, reason, "Record or choose a window that holds three steps or more.")
    if (lone := job.steps.lone_marker) is not None:
        reason = f"only one whole range marks a step ({lone}), and a step ends where the next one begins"
        return Skipped(question, reason, "Record three steps or more.")
    reason = "no range numbers iterations, and the kernels show no period that holds one optimizer burst"
    return Skipped(question, reason, _MARKED_STEPS.by(profilers))


def _shared_marker(devices: Sequence[StepsOfDevice]) -> str | None:
    names = {device.marker for device in devices}
    return names.pop() if len(names) == 1 else None


def _marker(job: Job, device: Device, source: StepSource) -> str | None:
    markers = job.steps.markers.get((device.report, device.global_pid))
    return display_text(markers.name) if markers is not None and source is StepSource.NVTX else None


def _cut(job: Job, device: Device, steps: DeviceSteps) -> _Cut:
    return _Cut(judge_steps(job, device, steps), coverage(device.occupancy, steps.bounds_ns))


def _of_device(job: Job, device: Device, source: StepSource, cut: _Cut, listed: int) -> StepsOfDevice:
    steps, steady = cut.judged.steps, cut.judged.steady
    bounds_ns, durations_ns = steps.bounds_ns, steps.durations_ns[steady]
    slow = steady[durations_ns > SLOW_STEP_FACTOR * np.median(durations_ns)] if len(steady) else steady
    return StepsOfDevice(
        id=device.id,
        source=source,
        marker=_marker(job, device, source),
        step_count=len(steps),
        count=len(steady),
        lead_ns=int(bounds_ns[0] - device.occupancy.bounds_ns[0]),
        open_ns=int(device.occupancy.bounds_ns[-1] - bounds_ns[-1]),
        median_ns=float(np.median(durations_ns)) if len(steady) else None,
        mean_ns=float(durations_ns.mean()) if len(steady) else None,
        p90_ns=_nearest_rank(durations_ns, 0.9),
        max_ns=int(durations_ns.max()) if len(steady) else None,
        slow_count=len(slow),
        slow_every=_distance(slow),
        trend_frac=_trend(durations_ns),
        time=_mean_time(cut.parts_ns[steady]),
        idle_causes=_mean_causes(cut.judged),
        list=tuple(_list(job, device, cut, min(listed, len(steps)))),
    )


def _list(job: Job, device: Device, cut: _Cut, count: int) -> Iterator[Step]:
    trace, judged = job.traces[device.report], cut.judged
    names, causes_ns = judged.steps.name_id, judged.causes_ns
    for row in range(count):
        start_ns, end_ns = (int(bound) for bound in judged.steps.bounds_ns[row : row + 2])
        yield Step(
            marker=display_text(trace.text(int(names[row]))) if len(names) else None,
            start_ns=start_ns,
            end_ns=end_ns,
            duration_ns=end_ns - start_ns,
            time=PartTimes(*cut.parts_ns[row].tolist()),
            idle_causes=None if causes_ns is None else _present(causes_ns[row]),
            excluded=judged.excluded[row],
        )


def _present(causes_ns: Int64Array) -> dict[str, int]:
    return {f"{cause.value}_ns": time for cause, time in zip(CAUSES, causes_ns.tolist(), strict=True) if time}


def _distance(rows: Int64Array) -> int | None:
    """The one distance between neighbours, None where there are several, or too few neighbours to tell."""
    distances = distinct(np.diff(rows))
    return int(distances[0]) if len(distances) == 1 and len(rows) >= FEWEST_FOR_DISTANCE else None


def _trend(durations_ns: Int64Array) -> float | None:
    if len(durations_ns) < FEWEST_FOR_TREND:
        return None
    third = len(durations_ns) // 3
    return float(np.median(durations_ns[-third:]) / np.median(durations_ns[:third]) - 1)


def _nearest_rank(values: Int64Array, share: float) -> int | None:
    return int(np.sort(values)[int(np.ceil(share * len(values))) - 1]) if len(values) else None


def _mean_time(parts_ns: Int64Array) -> PartTimes | None:
    return PartTimes(*mean_of_steps(parts_ns)) if len(parts_ns) else None


def _mean_causes(judged: JudgedSteps) -> IdleCauses | None:
    if judged.causes_ns is None or not len(judged.steady):
        return None
    return IdleCauses.of_times(dict(zip(CAUSES, mean_of_steps(judged.causes_ns[judged.steady]), strict=True)))


def _excluded(device: Device, cut: _Cut) -> Iterator[ExcludedSteps]:
    for reason in Exclusion:
        if count := sum(why is reason for why in cut.judged.excluded):
            yield ExcludedSteps(device.id, reason, count)
