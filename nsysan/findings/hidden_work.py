"""Whether so much GPU work left no record that nothing can be said of the time in which none was recorded."""

from __future__ import annotations

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.step_losses import StepLosses
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import MOSTLY_FRAC
from nsysan.model.units import counted


def why_hidden(results: ResultSet) -> str | None:
    """That what looks idle may have been busy: most kernels, or a graph in most steps, left no record; else None."""
    gpu_time, losses = results.get(GpuTime), results.get(StepLosses)
    if isinstance(gpu_time, Skipped) or isinstance(losses, Skipped):
        return None
    missing = gpu_time.job.missing_kernels
    if missing is not None and missing.missing_frac > MOSTLY_FRAC:
        return f"{missing.described('kernel')}, so what looks idle may have been busy"
    count, report = gpu_time.job.unseen_graph_launch_count or 0, losses.step_losses
    if count <= MOSTLY_FRAC * report.stretch_count * report.device_count:
        return None
    return f"{counted(count, 'CUDA graph launch')} left no record of what ran, so what looks idle may have been busy"
