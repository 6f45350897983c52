"""The parts as pages show them: their terms and fills, their shares, and the GPUs shown where there are many."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.gpu_time import GpuTime, GpuTimes, Spread
from nsysan.model.kernels import KernelClass
from nsysan.model.partition import COMPUTING_PARTS, Part, PartTimes
from nsysan.model.units import format_count, format_fraction
from nsysan.report.elements import Term
from nsysan.report.prose import paired
from nsysan.report.terms import TERMS

COMPUTE_PARTS = tuple(part for part in Part if part in COMPUTING_PARTS)
"""In their order; together they are ``compute_busy``: C + F."""

OTHER_PARTS = tuple(part for part in Part if part not in COMPUTING_PARTS)

_CLASS_FILLS = {
    KernelClass.COMMUNICATION: Part.EXPOSED_COMMUNICATION.value,
    KernelClass.FUSED_COMMUNICATION: Part.FUSED.value,
}


def part_term(part: Part) -> Term:
    """The part's definition."""
    return TERMS[part.value]


def class_fill(kernel_class: KernelClass) -> str:
    """The fill of the part that kernels of this class make up when nothing else runs.

    Kernels that copy or set memory are compute kernels: only the copies of the copy engines are a part of their own.
    """
    return _CLASS_FILLS.get(kernel_class, Part.COMPUTE_ONLY.value)


def part_share(time: PartTimes, part: Part) -> float | None:
    """The part's share of the window, or None where the window is empty."""
    return time.of(part) / time.window_ns if time.window_ns else None


def job_share(gpu_time: GpuTime, part: Part) -> Spread:
    """The part's share of the window over all GPUs."""
    return gpu_time.job.time.of(part)


def share_range(gpu_time: GpuTime, part: Part) -> str:
    """Smallest and largest share of a part over the GPUs that have a window: ``11.0 to 14.2 %``."""
    shares = [share for gpu in gpu_time.gpus if (share := part_share(gpu.time, part)) is not None]
    low, high = format_fraction(min(shares)), format_fraction(max(shares))
    return high if low == high else paired(low, "to", high)


def worst_gpus(gpus: Sequence[GpuTimes], limit: int) -> tuple[GpuTimes, ...]:
    """All GPUs in their order, or of more than ``limit`` the busiest, then those that compute least, worst first.

    The busiest may be the one that the others wait for.
    """
    if len(gpus) <= limit:
        return tuple(gpus)
    in_order = sorted(gpus, key=_compute_busy)
    return (in_order[-1], *in_order[: limit - 1])


def choice_of_gpus(gpu_time: GpuTime, limit: int) -> str | None:
    """The sentence that says which GPUs are shown, or None where all are."""
    count = len(gpu_time.gpus)
    if count <= limit:
        return None
    shown = f"the GPU that computes most and the {limit - 1} that compute least"
    return f"Shown are {shown}, of {format_count(count)}; run.json holds all."


def _compute_busy(gpu: GpuTimes) -> float:
    return 1.0 if gpu.compute_busy_frac is None else gpu.compute_busy_frac
