"""The fields that monitors name each in their own way, and which values are figures."""

from __future__ import annotations

import math

import msgspec

from nsysan.model.gpu_samples import Sampled

_PERCENT = 100


class Field(msgspec.Struct, frozen=True):
    """What a field is, and how many of its units make one."""

    sampled: Sampled
    units: int = 1


NVIDIA_SMI = {
    "pclk": Field(Sampled.SM_CLOCK_MHZ),
    "pwr": Field(Sampled.POWER_W),
    "gtemp": Field(Sampled.TEMPERATURE_C),
    "temp": Field(Sampled.TEMPERATURE_C),
    "sm": Field(Sampled.UTILIZATION_FRAC, _PERCENT),
}
"""By the headings of ``nvidia-smi dmon``: its "sm" is utilisation, the time with any kernel, not active SMs."""
DCGM = {
    "SMCLK": Field(Sampled.SM_CLOCK_MHZ),
    "POWER": Field(Sampled.POWER_W),
    "TMPTR": Field(Sampled.TEMPERATURE_C),
    "GPUTL": Field(Sampled.UTILIZATION_FRAC, _PERCENT),
    "GRACT": Field(Sampled.GRAPHICS_ACTIVE_FRAC),
    "SMACT": Field(Sampled.SM_ACTIVE_FRAC),
    "SMOCC": Field(Sampled.SM_OCCUPANCY_FRAC),
    "TENSO": Field(Sampled.TENSOR_ACTIVE_FRAC),
    "DRAMA": Field(Sampled.DRAM_ACTIVE_FRAC),
}
"""By DCGM's short names, as ``dcgmi dmon`` has them."""
DCGM_EXPORTER = {
    "DCGM_FI_DEV_SM_CLOCK": DCGM["SMCLK"],
    "DCGM_FI_DEV_POWER_USAGE": DCGM["POWER"],
    "DCGM_FI_DEV_GPU_TEMP": DCGM["TMPTR"],
    "DCGM_FI_DEV_GPU_UTIL": DCGM["GPUTL"],
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": DCGM["GRACT"],
    "DCGM_FI_PROF_SM_ACTIVE": DCGM["SMACT"],
    "DCGM_FI_PROF_SM_OCCUPANCY": DCGM["SMOCC"],
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": DCGM["TENSO"],
    "DCGM_FI_PROF_DRAM_ACTIVE": DCGM["DRAMA"],
}
"""By the names of the exporter's metrics."""
_LARGEST = {Sampled.SM_CLOCK_MHZ: 10_000.0, Sampled.POWER_W: 10_000.0, Sampled.TEMPERATURE_C: 200.0}


def value_of(field: Field, text: str) -> float:
    """The value, NaN where there is none: ``-``, ``N/A``, NaN, and DCGM's numbers for "blank", which no GPU reaches."""
    try:
        value = float(text) / field.units
    except ValueError:
        return math.nan
    return value if 0 <= value <= _LARGEST.get(field.sampled, 1.0) else math.nan
