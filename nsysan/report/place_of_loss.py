"""Where the loss that holds a job back is seen: the place of its evidence, or where that is too little, more of it."""

from __future__ import annotations

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.step_losses import StepLosses
from nsysan.model.findings import Finding, PlaceKind
from nsysan.model.losses import Basis
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.report.elements import Place
from nsysan.report.steps import steps_by_gpu

TELLING_FRAC = 0.05
"""A gap of less of the loss is one of very many: what they do together shows over a longer stretch."""

_NAMES = {
    PlaceKind.GAP: "the gap with most of this loss",
    PlaceKind.PART: "the longest stretch of this loss",
    PlaceKind.STEP: "a step with this loss",
}


def place_of_loss(run: Run, finding: Finding) -> tuple[str, Place] | None:
    """What to look at for a finding, as a sentence names it, and where that is; None where nothing shows it."""
    first = next((evidence.place for evidence in finding.evidence if evidence.place is not None), None)
    least_ns = (finding.recoverable_ns or 0) * TELLING_FRAC
    if first is not None and (first.kind is not PlaceKind.GAP or first.end_ns - first.start_ns >= least_ns):
        return _NAMES[first.kind], Place(first.kind.value, first.gpu, first.start_ns, first.end_ns)
    if first is None:
        return _after_start_up(run)
    of_one_gap = Place(first.kind.value, first.gpu, first.start_ns, first.end_ns)
    return _step_around(run, of_one_gap) or _after_start_up(run) or (_NAMES[first.kind], of_one_gap)


def _step_around(run: Run, gap: Place) -> tuple[str, Place] | None:
    """The step in which a gap begins."""
    of_gpu = steps_by_gpu(run).get(gap.gpu)
    steps = () if of_gpu is None else of_gpu.list
    step = next((step for step in steps if step.start_ns <= gap.start_ns < step.end_ns), None)
    return None if step is None else (_NAMES[PlaceKind.STEP], Place("step", gap.gpu, step.start_ns, step.end_ns))


def _after_start_up(run: Run) -> tuple[str, Place] | None:
    """What losses are a share of where there are no steps, on the first GPU."""
    losses, gpu_time = run.results.get(StepLosses), run.results.get(GpuTime)
    if isinstance(losses, Skipped) or isinstance(gpu_time, Skipped):
        return None
    gpu = gpu_time.gpus[0]
    start_ups = (device.start_up for device in gpu_time.devices if device.id == gpu.devices[0])
    start_up = next(start_ups, None)
    if losses.step_losses.basis is not Basis.AFTER_START_UP or start_up is None:
        return None
    return "the time after start-up", Place("part", gpu.id, start_up.end_ns, gpu.window_end_ns)
