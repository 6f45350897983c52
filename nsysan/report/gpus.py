"""Which GPUs are shown where there are too many for one page, and how their shares spread."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.gpu_time import GpuTime, GpuTimes, Spread
from nsysan.model.partition import Part
from nsysan.model.units import format_count, format_fraction


def worst_gpus(gpus: Sequence[GpuTimes], limit: int) -> tuple[GpuTimes, ...]:
    """All GPUs in their order, or where they are more than ``limit`` those that compute least, worst first."""
    if len(gpus) <= limit:
        return tuple(gpus)
    return tuple(sorted(gpus, key=_compute_busy)[:limit])


def choice_of_gpus(gpu_time: GpuTime, limit: int) -> str | None:
    """The sentence that says which GPUs are shown, or None where all are."""
    count = len(gpu_time.gpus)
    if count <= limit:
        return None
    return f"Shown are the {limit} GPUs that compute least, of {format_count(count)}; run.json holds all."


def job_share(gpu_time: GpuTime, part: Part) -> Spread:
    """The part's share of the window over all GPUs."""
    return gpu_time.job.time[part.value]


def part_share(gpu: GpuTimes, part: Part) -> float:
    """The part's share of the GPU's window; 0 where the window is empty."""
    window_ns = gpu.time.window_ns
    return gpu.time.of(part) / window_ns if window_ns else 0.0


def share_range(gpu_time: GpuTime, part: Part) -> str:
    """Smallest and largest share of a part over the GPUs: ``11.0 to 14.2 %``."""
    shares = [part_share(gpu, part) for gpu in gpu_time.gpus]
    low, high = format_fraction(min(shares)), format_fraction(max(shares))
    return high if low == high else f"{low.removesuffix(' %')} to {high}"


def _compute_busy(gpu: GpuTimes) -> float:
    return 1.0 if gpu.compute_busy_frac is None else gpu.compute_busy_frac
