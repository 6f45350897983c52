"""What a monitor sampled of GPUs while a job ran: clocks, power, temperature, and how active units were."""

from __future__ import annotations

from array import array
from enum import Enum

import msgspec

from nsysan.model.evidence import EvidenceItem


class Monitor(str, Enum):
    """Who sampled."""

    NVIDIA_SMI = "nvidia_smi_dmon"
    DCGMI = "dcgmi_dmon"
    DCGM_EXPORTER = "dcgm_exporter"


class Sampled(str, Enum):
    """What was sampled. Utilisation is the share of time in which any kernel ran: it tells nothing of how well."""

    SM_CLOCK_MHZ = "sm_clock_mhz"
    POWER_W = "power_w"
    TEMPERATURE_C = "temperature_c"
    UTILIZATION_FRAC = "utilization_frac"
    GRAPHICS_ACTIVE_FRAC = "graphics_active_frac"
    SM_ACTIVE_FRAC = "sm_active_frac"
    SM_OCCUPANCY_FRAC = "sm_occupancy_frac"
    TENSOR_ACTIVE_FRAC = "tensor_active_frac"
    DRAM_ACTIVE_FRAC = "dram_active_frac"


class SampledGpu(msgspec.Struct, frozen=True):
    """A GPU by its number on its host, or a MIG instance, of a GPU where that is told. Columns are NaN for no value.

    ``wall_ns`` is empty where samples bear no time. The number need not be CUDA's.
    """

    number: int | None
    instance: int | None
    host: str | None
    uuid: str | None
    columns: dict[Sampled, array[float]]
    wall_ns: array[int]

    def __len__(self) -> int:
        return max(map(len, self.columns.values()), default=0)


class GpuSamples(EvidenceItem, kw_only=True, frozen=True):
    """One recording: the samples under headings that name the same columns, from ``first_line`` on.

    ``malformed_count`` lines have other than their columns; ``omitted_count`` came after as many as are kept.
    """

    monitor: Monitor
    first_line: int
    gpus: tuple[SampledGpu, ...]
    malformed_count: int
    omitted_count: int
