"""The causes of idle time as pages show them: terms, fills and classes, and their shares over the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from nsysan.analysis.gpu_time import GpuTime, GpuTimes
from nsysan.model.awaited import awaited
from nsysan.model.idle import Cause, IdleCauses
from nsysan.report.elements import Cell, Term
from nsysan.report.fills import CAUSE_FILLS
from nsysan.report.prose import listed
from nsysan.report.terms import TERMS

_OTHER_CLASSES = {
    Cause.PROFILER_OVERHEAD: "no class",
    Cause.DATA_LOADING: "data",
    Cause.HOST_COMMUNICATION: "communication",
    Cause.BLOCKING_COPY: "by what is copied",
    Cause.ALLOCATOR: "memory",
    Cause.DEVICE_WAIT: "by what is awaited",
    Cause.UNIFIED_MEMORY: "memory",
    Cause.UNKNOWN: "no class",
}
"""The classes of causes that are not scheduling."""


def cause_term(cause: Cause) -> Term:
    """The cause's definition."""
    return TERMS[cause.value]


def cause_fill(cause: Cause) -> str:
    """The fill of the cause, which it has in every chart."""
    return CAUSE_FILLS[cause]


def class_of_cause(cause: Cause) -> str:
    """The bottleneck class the cause belongs to, in words: by far the most belong to scheduling."""
    return _OTHER_CLASSES.get(cause, "scheduling")


def explained_gpus(gpus: Sequence[GpuTimes]) -> tuple[tuple[GpuTimes, IdleCauses], ...]:
    """The GPUs that have a window and whose idle time has causes, and these."""
    return tuple((gpu, gpu.idle_causes) for gpu in gpus if gpu.idle_causes is not None and gpu.time.window_ns)


def cause_shares(gpu_time: GpuTime) -> Mapping[Cause, float]:
    """The share of the window that each cause takes, mean over the GPUs; only causes that occur, in their order."""
    explained = explained_gpus(gpu_time.gpus)
    shares = {
        cause: fsum(causes.of(cause) / gpu.time.window_ns for gpu, causes in explained) / max(len(explained), 1)
        for cause in Cause
    }
    return {cause: share for cause, share in shares.items() if share}


def present_causes(all_causes: Sequence[IdleCauses]) -> tuple[Cause, ...]:
    """The causes that occur in any of these, in their order."""
    return tuple(cause for cause in Cause if any(causes.of(cause) for causes in all_causes))


def times_by_cause(times_ns: Mapping[str, int]) -> tuple[tuple[Cause, int], ...]:
    """The times of ``<cause>_ns`` keys, as steps and gaps have them, in the order of the causes."""
    return tuple((cause, time_ns) for cause in Cause if (time_ns := times_ns.get(f"{cause.value}_ns", 0)))


def most_awaited(times_ns: Mapping[str, int] | None) -> Cell:
    """What a GPU waited for longest, from times by ``<cause>_ns``; None where no calls were recorded."""
    if times_ns is None:
        return Cell("not recorded", style="faint")
    found = times_by_cause(times_ns)
    if not found:
        return Cell("nothing", style="faint")
    most_ns = max(time_ns for _, time_ns in found)
    causes = [cause for cause, time_ns in found if time_ns == most_ns]
    return Cell(listed([awaited(cause) for cause in causes]), fill=cause_fill(causes[0]) if len(causes) == 1 else None)
