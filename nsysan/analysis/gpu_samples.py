"""What monitors sampled of GPUs: clock, power, temperature, and how active units were."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import ClassVar

import msgspec

from nsysan.analysis.host_names import host_names
from nsysan.analysis.registry import Analysis
from nsysan.attribution.job import Job
from nsysan.model.gpu_samples import GpuSamples, Monitor, Sampled, SampledGpu
from nsysan.model.results import ResultSet
from nsysan.model.text import display_text
from nsysan.model.thresholds import SAMPLE_GAP_FACTOR, SAMPLED_BUSY_FRAC
from nsysan.model.units import HZ_PER_MHZ

SHOWN_GPUS = 1_024
_ACTIVITY = (Sampled.SM_ACTIVE_FRAC, Sampled.GRAPHICS_ACTIVE_FRAC, Sampled.UTILIZATION_FRAC)


class SampledGpuSummary(msgspec.Struct, frozen=True):
    """A GPU, or a MIG instance of one, as ``label`` says. Every figure is null where no sample tells it.

    ``sm_clock_hz`` is the median of the ``busy_count`` samples in which the GPU worked, of all where activity was not
    sampled, for which ``busy_count`` is null. Power and activity are means over all samples, ``temperature_c`` is the
    highest. ``utilization_frac`` is the time with any kernel: it says nothing of how well the GPU is used.
    ``blank_count`` samples tell nothing.
    """

    label: str
    is_instance: bool
    sample_count: int
    busy_count: int | None
    blank_count: int
    gap_count: int
    sm_clock_hz: float | None
    power_w: float | None
    temperature_c: float | None
    utilization_frac: float | None
    graphics_active_frac: float | None
    sm_active_frac: float | None
    sm_occupancy_frac: float | None
    tensor_active_frac: float | None
    dram_active_frac: float | None


class GpuSamplesSummary(msgspec.Struct, frozen=True):
    """One recording, from ``first_line`` of its file on."""

    name: str
    monitor: Monitor
    first_line: int
    malformed_count: int
    omitted_count: int
    gpus: tuple[SampledGpuSummary, ...]


class SampledGpus(msgspec.Struct, frozen=True):
    """The recordings that were given, none where none was."""

    id: ClassVar[str] = "gpu_samples"

    gpu_samples: tuple[GpuSamplesSummary, ...]

    def not_given(self) -> str | None:
        """What the figures are read of; None where it was given."""
        return None if self.gpu_samples else "recording of a monitor"


def compute_gpu_samples(job: Job, _results: ResultSet) -> SampledGpus:
    """A summary of each recording among the evidence."""
    keep_identity = job.evidence.keep_identity
    found = job.evidence.of(GpuSamples)
    return SampledGpus(tuple(_summary(recording, keep_identity=keep_identity) for recording in found))


ANALYSIS = Analysis(SampledGpus, compute_gpu_samples, of_host=False)


def _summary(recording: GpuSamples, *, keep_identity: bool) -> GpuSamplesSummary:
    hosts = _host_names(recording.gpus, keep_identity=keep_identity)
    return GpuSamplesSummary(
        name=display_text(recording.name),
        monitor=recording.monitor,
        first_line=recording.first_line,
        malformed_count=recording.malformed_count,
        omitted_count=recording.omitted_count,
        gpus=tuple(_of_gpu(gpu, hosts) for gpu in recording.gpus[:SHOWN_GPUS]),
    )


def _host_names(gpus: Sequence[SampledGpu], *, keep_identity: bool) -> Mapping[str, str]:
    """What hosts are called; where there is one alone it needs no name."""
    found = host_names((gpu.host for gpu in gpus if gpu.host is not None), keep_identity=keep_identity)
    return found if len(found) > 1 else {}


def _label(gpu: SampledGpu, hosts: Mapping[str, str]) -> str:
    whole = None if gpu.number is None else f"GPU {gpu.number}"
    instance = None if gpu.instance is None else f"instance {gpu.instance}"
    name = ", ".join(part for part in (whole, instance) if part is not None)
    host = hosts.get(gpu.host or "")
    return name if host is None else f"{name} of {host}"


def _of_gpu(gpu: SampledGpu, hosts: Mapping[str, str]) -> SampledGpuSummary:
    busy = _busy_rows(gpu)
    told = {sampled: [value for value in column if not math.isnan(value)] for sampled, column in gpu.columns.items()}
    means = {sampled: fmean(values) for sampled, values in told.items() if values}
    clock_mhz = _clock_mhz(gpu, busy)
    return SampledGpuSummary(
        label=_label(gpu, hosts),
        is_instance=gpu.instance is not None,
        sample_count=len(gpu),
        busy_count=None if busy is None else len(busy),
        blank_count=sum(all(map(math.isnan, row)) for row in zip(*gpu.columns.values(), strict=True)),
        gap_count=_gap_count(gpu.wall_ns),
        sm_clock_hz=None if clock_mhz is None else clock_mhz * HZ_PER_MHZ,
        power_w=means.get(Sampled.POWER_W),
        temperature_c=max(told.get(Sampled.TEMPERATURE_C, ()), default=None),
        utilization_frac=means.get(Sampled.UTILIZATION_FRAC),
        graphics_active_frac=means.get(Sampled.GRAPHICS_ACTIVE_FRAC),
        sm_active_frac=means.get(Sampled.SM_ACTIVE_FRAC),
        sm_occupancy_frac=means.get(Sampled.SM_OCCUPANCY_FRAC),
        tensor_active_frac=means.get(Sampled.TENSOR_ACTIVE_FRAC),
        dram_active_frac=means.get(Sampled.DRAM_ACTIVE_FRAC),
    )


def _busy_rows(gpu: SampledGpu) -> list[int] | None:
    """The samples in which the GPU worked, by the best that was sampled of activity; None where nothing was."""
    for sampled in _ACTIVITY:
        column = gpu.columns.get(sampled)
        if column is not None and not all(map(math.isnan, column)):
            return [row for row, value in enumerate(column) if value >= SAMPLED_BUSY_FRAC]
    return None


def _clock_mhz(gpu: SampledGpu, busy: list[int] | None) -> float | None:
    clocks = gpu.columns.get(Sampled.SM_CLOCK_MHZ)
    if clocks is None:
        return None
    chosen = clocks if busy is None else [clocks[row] for row in busy]
    known = [clock for clock in chosen if clock > 0]
    return median(known) if known else None


def _gap_count(wall_ns: Sequence[int]) -> int:
    distances_ns = [after - before for before, after in pairwise(wall_ns)]
    usual_ns = median(distances_ns) if distances_ns else 0
    return sum(distance_ns > SAMPLE_GAP_FACTOR * usual_ns for distance_ns in distances_ns) if usual_ns > 0 else 0
