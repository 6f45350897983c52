"""The six baseline figures, or why one is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import ClassVar

import msgspec

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.logged_tokens import tokens_per_s
from nsysan.analysis.memory import Memory, MemorySource
from nsysan.analysis.profiles import Profiles
from nsysan.analysis.registry import Analysis
from nsysan.analysis.steps import Steps
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.attribution.job import Job
from nsysan.model.figures import Bearing, Better, Condition, Figure, Topic, Unit
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import OPAQUE_FRAC, UNRESOLVED_FRAC
from nsysan.model.units import format_fraction


class BaselineFigures(msgspec.Struct, frozen=True):
    """The six figures; ``unknown`` says of each null one why it is null, by its key.

    ``peak_memory_kind`` says who counted it: the driver what it handed out, or PyTorch's allocator what was in use;
    ``peak_memory_source`` names the profile among the evidence that tells it, null where a trace does.
    ``tokens_per_s_source`` names the log that tells them, and how, or ``FROM_MODEL``.
    """

    tokens_per_s: float | None
    compute_busy_frac: float | None
    mfu: float | None
    communication_wait_frac: float | None
    data_wait_ns_per_step: float | None
    peak_memory_bytes: int | None
    unknown: dict[str, str]
    peak_memory_kind: MemorySource | None = None
    tokens_per_s_source: str | None = None
    peak_memory_source: str | None = None


class Baseline(msgspec.Struct, frozen=True):
    """The six baseline figures of the job."""

    id: ClassVar[str] = "baseline"

    baseline: BaselineFigures

    def figures(self) -> Iterator[Figure]:
        """Those of the six that are known."""
        for key, (name, unit, better) in _KINDS.items():
            value: float | None = getattr(self.baseline, key)
            if value is not None:
                yield Figure(_TOPIC, key, name, value, unit, better)

    def conditions(self) -> Iterator[Condition]:
        """Who counted the memory and the tokens."""
        if self.baseline.peak_memory_kind is not None:
            kind = spelled(self.baseline.peak_memory_kind.value)
            yield Condition("peak_memory_kind", "peak memory counted by", kind, Bearing.CAUTIONS)
        if self.baseline.tokens_per_s_source is not None:
            teller = "the model" if self.baseline.tokens_per_s_source == FROM_MODEL else "a training log"
            yield Condition("tokens", "tokens told by", teller, Bearing.CAUTIONS)


_TOPIC = Topic("baseline", "The six baseline figures")
_KINDS = {
    "tokens_per_s": ("tokens per second", Unit.PER_S, Better.MORE),
    "compute_busy_frac": ("compute busy", Unit.FRAC, Better.MORE),
    "mfu": ("MFU", Unit.FRAC, Better.MORE),
    "communication_wait_frac": ("communication wait", Unit.FRAC, Better.LESS),
    "data_wait_ns_per_step": ("data wait a step", Unit.NS, Better.LESS),
    "peak_memory_bytes": ("peak memory", Unit.BYTES, Better.LESS),
}

FROM_MODEL = "the batch of the model and the mean step"
"""The source of tokens a second that no log tells."""
_NEEDS_MODEL = {"mfu": "needs the model: give --model"}


def compute_baseline(job: Job, results: ResultSet) -> Baseline | Skipped:
    """The figures that the other results give; skipped where no GPU work was recorded."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return Skipped(Baseline.id, gpu_time.reason, gpu_time.recapture)
    found = {
        "compute_busy_frac": _compute_busy(gpu_time),
        "communication_wait_frac": _communication_wait(job, gpu_time, results),
        "data_wait_ns_per_step": _data_wait(results),
    }
    peak = _peak_memory(results)
    tokens = tokens_per_s(results)
    values = {key: None if isinstance(value, str) else value for key, value in found.items()}
    reasons = {key: value for key, value in found.items() if isinstance(value, str)}
    figures = BaselineFigures(
        tokens_per_s=None if isinstance(tokens, str) else tokens.tokens_per_s,
        tokens_per_s_source=None if isinstance(tokens, str) else tokens.source,
        mfu=None,
        peak_memory_bytes=None if isinstance(peak, str) else peak.peak_bytes,
        peak_memory_kind=None if isinstance(peak, str) else peak.kind,
        peak_memory_source=None if isinstance(peak, str) else peak.source,
        unknown={
            **({"tokens_per_s": tokens} if isinstance(tokens, str) else {}),
            **_NEEDS_MODEL,
            **({"peak_memory_bytes": peak} if isinstance(peak, str) else {}),
            **reasons,
        },
        **values,
    )
    return Baseline(figures)


ANALYSIS = Analysis(Baseline, compute_baseline, needs=(GpuTime, Memory, Profiles, Steps, Collectives, TrainingLogs))


def _compute_busy(gpu_time: GpuTime) -> float | str:
    """The share of the window in which compute kernels run, mean over the GPUs; or why it is unknown."""
    if missing := gpu_time.job.missing_kernels:
        return f"{missing.described('kernel')}; the finding about them says what to do"
    if gpu_time.job.unseen_graph_launch_count:
        return "CUDA graphs ran that left no record; record with --cuda-graph-trace=node"
    graph_frac = gpu_time.job.time.opaque_graph.mean_frac
    if graph_frac >= OPAQUE_FRAC:
        return (
            f"{format_fraction(graph_frac)} of the window passes inside CUDA graphs whose kernels were not recorded; "
            "record with --cuda-graph-trace=node"
        )
    return gpu_time.job.compute_busy_frac.mean_frac


def _lacking_ranks(job: Job, found: Collectives) -> str | None:
    """Why the ranks at hand cannot show who waited; None where they can."""
    if left_out := len(job.collectives.members) - len(found.ranks):
        return f"needs all ranks: --gpu leaves {left_out} of {len(job.collectives.members)} out"
    if len(found.ranks) <= 1:
        return "one rank alone cannot show whether it waits for others or transfers"
    if found.world_size is not None and found.world_size > len(found.ranks):
        return f"needs all ranks: {len(found.ranks)} of {found.world_size} are given"
    return None


def _communication_wait(job: Job, gpu_time: GpuTime, results: ResultSet) -> float | str:
    """The share of the window that passes in exposed waits for other ranks, mean over ranks; or why it is unknown."""
    found = results.get(Collectives)
    if isinstance(found, Skipped):
        return f"needs collectives: {found.reason}"
    if lacking := _lacking_ranks(job, found):
        return lacking
    windows_ns = {device.id: device.time.window_ns for device in gpu_time.devices}
    shares = [(rank, windows_ns[rank.device]) for rank in found.ranks if windows_ns[rank.device]]
    if not shares:
        return "needs work of some length: the windows of all ranks have none"
    unresolved = fmean(rank.unresolved_exposed_ns / window_ns for rank, window_ns in shares)
    if unresolved >= UNRESOLVED_FRAC:
        return (
            f"{format_fraction(unresolved)} of the window passes in exposed communication that may be waiting or "
            "transfer; the table of collectives says why"
        )
    return fmean(rank.exposed_wait_ns / window_ns for rank, window_ns in shares)


def _data_wait(results: ResultSet) -> float | str:
    """Idle time by data loading in the mean steady step, in ns, mean over the devices; or why it is unknown."""
    steps = results.get(Steps)
    if isinstance(steps, Skipped):
        return f"needs training steps: {steps.reason}"
    steady = [device for device in steps.steps.devices if device.count]
    if not steady:
        return "needs training steps that are neither warm-up nor disturbed by the profiler"
    waits_ns = [device.idle_causes.data_loading_ns for device in steady if device.idle_causes is not None]
    return sum(waits_ns) / len(waits_ns) if waits_ns else "needs CUDA calls, and none were recorded"


class _Peak(msgspec.Struct, frozen=True):
    peak_bytes: int
    kind: MemorySource
    source: str | None


def _peak_memory(results: ResultSet) -> _Peak | str:
    """That of the fullest GPU of the traces, else of the fullest that a profile of the evidence tells; or why not."""
    peak = _fullest(results)
    profiles = results.get(Profiles)
    if not isinstance(peak, str) or isinstance(profiles, Skipped):
        return peak
    told = [(memory.used_peak_bytes, profile.name) for profile in profiles.profiles for memory in profile.memory]
    if not told:
        return peak
    peak_bytes, name = max(told)
    return _Peak(peak_bytes, MemorySource.ALLOCATOR_USED, name)


def _fullest(results: ResultSet) -> _Peak | str:
    """The memory of the GPU with the highest peak, as the driver counted it, else as the allocator did; or why not."""
    memory = results.get(Memory)
    if isinstance(memory, Skipped):
        return f"needs memory events: {memory.reason}"
    for kind in (MemorySource.DRIVER_RESERVED, MemorySource.ALLOCATOR_USED):
        counted = [gpu.peak_bytes for gpu in memory.memory.gpus if gpu.source is kind]
        if counted:
            return _Peak(max(counted), kind, None)
    return memory.memory.unknown.get("gpus", "no memory of a GPU was recorded")
