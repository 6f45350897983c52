"""Why the GPUs were idle, over all of them; each GPU's own causes stand beside its partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

import msgspec

from nsysan.analysis.gpu_time import WINDOW_SHARES, GpuTime, GpuTimes
from nsysan.analysis.of_reports import OfReport
from nsysan.analysis.registry import Analysis
from nsysan.attribution.job import Job
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.profilers import BOTH_ACTIVITIES, Recapture
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped


class CauseOfIdle(msgspec.Struct, frozen=True):
    """Idle time of one cause: ``total_ns`` over all GPUs, and the mean and worst share of a GPU's window."""

    cause: Cause
    total_ns: int
    mean_frac: float
    worst_frac: float
    worst_gpu: str


class IdleByCause(msgspec.Struct, frozen=True):
    """The causes that occur, most time first, over the GPUs whose calls were recorded; they add up to their idle."""

    id: ClassVar[str] = "idle_causes"

    idle_causes: tuple[CauseOfIdle, ...]

    def figures(self) -> Iterator[Figure]:
        """Each cause's mean share of the window; the causes add up to the idle time where all GPUs have causes."""
        shares = {entry.cause: entry.mean_frac for entry in self.idle_causes}
        for cause in Cause:
            name, share = idle_name(cause), shares.get(cause, 0.0)
            yield Figure(_TOPIC, cause.value, name, share, Unit.FRAC, Better.LESS, f"{WINDOW_SHARES.id}.idle")


def idle_name(cause: Cause) -> str:
    """The idle time of a cause as one name: ``idle by data loading``."""
    return f"idle by {_AS_NOUNS.get(cause, spelled(cause.value))}"


_AS_NOUNS = {
    Cause.OS_BLOCKED: "OS blocking",
    Cause.LAUNCH_STARVED: "launch starvation",
    Cause.UNKNOWN: "unknown cause",
}
"""The causes whose names are no nouns."""


_TOPIC = Topic("window_idle_causes", "Idle time by cause, as shares of the window, mean over GPUs")

_CALLS = Recapture(
    nsys="Record CUDA calls as well: nsys profile -t cuda,nvtx ...",
    torch=f"Record host and GPU with torch.profiler: profile({BOTH_ACTIVITIES}).",
)


def compute_idle_causes(job: Job, results: ResultSet) -> IdleByCause | Skipped:
    """The causes over all GPUs; skipped where no GPU has work or no CUDA calls were recorded."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return Skipped(IdleByCause.id, gpu_time.reason, gpu_time.recapture)
    explained = [(gpu, gpu.idle_causes) for gpu in gpu_time.gpus if gpu.idle_causes is not None and gpu.time.window_ns]
    if not explained:
        recapture = _CALLS.by({trace.profiler for trace in job.traces})
        return Skipped(IdleByCause.id, "no CUDA calls of the GPUs' processes were recorded", recapture)
    causes = [_over_gpus(cause, explained) for cause in Cause]
    return IdleByCause(tuple(sorted((cause for cause in causes if cause.total_ns), key=lambda one: -one.total_ns)))


def merge_idle_causes(job: Job, results: ResultSet, _parts: Sequence[OfReport]) -> IdleByCause | Skipped:
    """The causes over all GPUs, which these results tell."""
    return compute_idle_causes(job, results)


ANALYSIS = Analysis(IdleByCause, compute_idle_causes, needs=(GpuTime,), merge=merge_idle_causes)


def _over_gpus(cause: Cause, explained: list[tuple[GpuTimes, IdleCauses]]) -> CauseOfIdle:
    shares = [causes.of(cause) / gpu.time.window_ns for gpu, causes in explained]
    worst = max(range(len(shares)), key=shares.__getitem__)
    return CauseOfIdle(
        cause=cause,
        total_ns=sum(causes.of(cause) for _, causes in explained),
        mean_frac=fmean(shares),
        worst_frac=shares[worst],
        worst_gpu=explained[worst][0].id,
    )
