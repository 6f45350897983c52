"""Which kernels the mean steady step runs, how often and for how long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.analysis.steps import Steps
from nsysan.attribution.devices import Device
from nsysan.attribution.job import Job
from nsysan.attribution.kernel_class import classify
from nsysan.attribution.steps.steady import judge_steps
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded, summed
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.kernels import KernelClass
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text, text_hash

ROW_LIMIT = 500


class StepKernelRow(msgspec.Struct, frozen=True):
    """The kernels of one demangled name in the mean steady step of a device, mean over the devices that have one.

    A kernel belongs to the step in which it begins, with all of its time: ``time_per_step_ns`` is a volume of work, for
    kernels run side by side.
    """

    name: str
    name_hash: str
    kernel_class: KernelClass
    runs_per_step: float
    time_per_step_ns: float


class StepKernels(msgspec.Struct, frozen=True):
    """The kernels of the mean steady step, most time first, at most 500 names."""

    id: ClassVar[str] = "step_kernels"

    step_kernels: tuple[StepKernelRow, ...]

    def figures(self) -> Iterator[Figure]:
        """The time and the runs of each kernel a step, by the hash of its name."""
        for row in self.step_kernels:
            yield Figure(STEP_KERNELS, row.name_hash, row.name, row.time_per_step_ns, Unit.NS, Better.LESS)
        for row in self.step_kernels:
            yield Figure(STEP_KERNEL_RUNS, row.name_hash, row.name, row.runs_per_step, Unit.COUNT)


STEP_KERNELS = Topic("step_kernels", "Kernel time in the mean steady step, mean over devices")
STEP_KERNEL_RUNS = Topic("step_kernel_runs", "Runs of each kernel in the mean steady step, mean over devices")


def compute_step_kernels(job: Job, results: ResultSet) -> StepKernels | Skipped:
    """The kernels of the mean steady step; skipped where there are no steady steps or no kernels in them."""
    if not job.gpus:
        return no_gpu_work(StepKernels.id, job)
    steps = results.get(Steps)
    if isinstance(steps, Skipped):
        return Skipped(StepKernels.id, steps.reason, steps.recapture)
    found = [kernels for device in job.devices if (kernels := _steady_kernels(job, device)) is not None]
    if not found:
        return Skipped(StepKernels.id, "no step is neither warm-up nor disturbed by the profiler", None)
    runs: defaultdict[str, float] = defaultdict(float)
    times_ns: defaultdict[str, float] = defaultdict(float)
    for of_device in found:
        for name, run_count, time_ns in of_device:
            runs[name] += run_count / len(found)
            times_ns[name] += time_ns / len(found)
    names = sorted(times_ns, key=lambda name: (-times_ns[name], name))[:ROW_LIMIT]
    return StepKernels(tuple(_row(name, runs[name], times_ns[name]) for name in names))


ANALYSIS = Analysis(StepKernels, compute_step_kernels, needs=(Steps,))


def _row(name: str, runs: float, time_ns: float) -> StepKernelRow:
    return StepKernelRow(display_text(name), text_hash(name), classify(name).kernel_class, runs, time_ns)


def _steady_kernels(job: Job, device: Device) -> list[tuple[str, float, float]] | None:
    """Name, runs and ns of each kernel in the device's mean steady step; None where it has no such step."""
    _, steps = job.steps.of_device(device)
    trace = job.traces[device.report]
    steady = np.empty(0, np.int64) if steps is None else judge_steps(job, device, steps).steady
    if steps is None or trace.kernels is None or not len(steady):
        return None
    kernels = device.activities.take(device.activities.are_of("kernels"))
    inside = np.isin(steps.labelling().at(kernels.start_ns), steady)
    name_ids, name_of = coded(trace.kernels.name_id[kernels.row[inside]])
    counts: Int64Array = np.bincount(name_of, minlength=len(name_ids))
    times_ns = summed((kernels.end_ns - kernels.start_ns)[inside], name_of, len(name_ids))
    names = (trace.text(name_id) for name_id in name_ids.tolist())
    per_step = zip(names, (counts / len(steady)).tolist(), (times_ns / len(steady)).tolist(), strict=True)
    return list(per_step)
