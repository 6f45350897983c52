"""The six baseline figures, or why one is unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.registry import Analysis
from nsysan.attribution.job import Job
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import format_fraction

OPAQUE_FROM_FRAC = 0.02
"""From this share of the window on, whole graphs leave open how busy computing was."""


@dataclass(frozen=True, slots=True)
class BaselineFigures:
    """The six figures; ``unknown`` says of each null one why it is null, by its key."""

    tokens_per_s: float | None
    compute_busy_frac: float | None
    mfu: float | None
    communication_wait_frac: float | None
    data_wait_ns_per_step: float | None
    peak_memory_bytes: int | None
    unknown: dict[str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The six baseline figures of the job."""

    id: ClassVar[str] = "baseline"

    baseline: BaselineFigures


def compute_baseline(_job: Job, results: ResultSet) -> Baseline | Skipped:
    """The figures that the other results give; skipped where no GPU work was recorded."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return Skipped(Baseline.id, gpu_time.reason, gpu_time.recapture)
    no_steps = "needs training steps, which this version of nsysan does not find yet"
    unknown = {
        "tokens_per_s": no_steps,
        "mfu": f"{no_steps}, and a model configuration",
        "communication_wait_frac": "needs collectives matched over ranks, which this version of nsysan does not do yet",
        "data_wait_ns_per_step": no_steps,
        "peak_memory_bytes": "needs memory events, which this version of nsysan does not read yet",
    }
    busy_frac: float | None = gpu_time.job.compute_busy_frac.mean_frac
    graph_frac = gpu_time.job.time.opaque_graph.mean_frac
    if graph_frac >= OPAQUE_FROM_FRAC:
        busy_frac = None
        unknown["compute_busy_frac"] = (
            f"{format_fraction(graph_frac)} of the window passes inside CUDA graphs whose kernels were not recorded; "
            "record with --cuda-graph-trace=node"
        )
    if gpu_time.job.unseen_graph_launch_count:
        busy_frac = None
        unknown["compute_busy_frac"] = "CUDA graphs ran that left no record; record with --cuda-graph-trace=node"
    if missing := gpu_time.job.missing_kernels:
        busy_frac = None
        unknown["compute_busy_frac"] = f"{missing.described('kernel')}; the finding about them says what to do"
    nothing = dict.fromkeys(key for key in unknown if key != "compute_busy_frac")
    return Baseline(BaselineFigures(compute_busy_frac=busy_frac, unknown=unknown, **nothing))


ANALYSIS = Analysis(Baseline, compute_baseline, needs=(GpuTime,))
