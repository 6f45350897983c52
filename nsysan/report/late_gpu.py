"""The GPU that the others may wait for: it has far less exposed communication than they have, and what it did instead.

A collective ends on all ranks at once, so that whoever comes last waits least. Which part of the communication is
waiting is not measured here: this names where to look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nsysan.analysis.gpu_time import GpuTime, GpuTimes
from nsysan.model.idle import Cause
from nsysan.model.partition import Part
from nsysan.model.units import format_fraction
from nsysan.report.causes import awaited
from nsysan.report.partition import COMPUTE_PARTS, part_share

MOST_OF_MEAN = 0.5
LEAST_DIFFERENCE_FRAC = 0.02
"""The GPU has at most half of the mean share, and less than that by so much of the window."""


@dataclass(frozen=True, slots=True)
class LateGpu:
    """A GPU, its share of exposed communication, and what it did more of: ``waited for the data loader for 34.6 %``."""

    gpu: str
    communication_frac: float
    instead: str


def late_gpu(gpu_time: GpuTime) -> LateGpu | None:
    """The GPU with least exposed communication, where it stands out and did more of something than the others."""
    gpus = [gpu for gpu in gpu_time.gpus if gpu.time.window_ns]
    mean = gpu_time.job.time.exposed_communication.mean_frac
    least = min(gpus, key=_communication)
    share = _communication(least)
    if share > MOST_OF_MEAN * mean or mean - share < LEAST_DIFFERENCE_FRAC:
        return None
    others = [_did(gpu) for gpu in gpus if gpu is not least]
    excess = {
        what: time - sum(other.get(what, 0.0) for other in others) / len(others) for what, time in _did(least).items()
    }
    most = max(excess, key=lambda what: excess[what])
    return LateGpu(least.id, share, f"{most} for {format_fraction(_did(least)[most])}")


def _communication(gpu: GpuTimes) -> float:
    return part_share(gpu.time, Part.EXPOSED_COMMUNICATION) or 0.0


def _did(gpu: GpuTimes) -> Mapping[str, float]:
    """What a GPU did besides communication and its share of the window; idle time by cause where that is known."""
    window_ns = gpu.time.window_ns
    times = {
        "computed": sum(gpu.time.of(part) for part in COMPUTE_PARTS),
        "ran opaque graphs": gpu.time.opaque_graph_ns,
        "copied": gpu.time.exposed_copy_ns,
    }
    if gpu.idle_causes is None:
        times["idled"] = gpu.time.idle_ns
    else:
        times |= {f"waited for {awaited(cause)}": gpu.idle_causes.of(cause) for cause in Cause}
    return {what: time_ns / window_ns for what, time_ns in times.items()}
