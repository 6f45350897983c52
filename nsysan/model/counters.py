"""The counters of a GPU, by the names that releases of nsys and generations of GPUs have for them."""

from __future__ import annotations

import re
from enum import Enum


class Counter(str, Enum):
    """What a counter counts: a share of what the GPU can do, but for the clock, in Hz or MHz."""

    GR_ACTIVE = "gr_active"
    SM_ACTIVE = "sm_active"
    SM_ISSUE = "sm_issue"
    TENSOR_ACTIVE = "tensor_active"
    SM_OCCUPANCY = "sm_occupancy"
    DRAM_READ = "dram_read"
    DRAM_WRITE = "dram_write"
    PCIE_RX = "pcie_rx"
    PCIE_TX = "pcie_tx"
    NVLINK_RX = "nvlink_rx"
    NVLINK_TX = "nvlink_tx"
    GPC_CLOCK = "gpc_clock"


COUNTERS = tuple(Counter)

_PATTERNS = (
    (Counter.GR_ACTIVE, r"GR Active"),
    (Counter.SM_ACTIVE, r"SMs? Active"),
    (Counter.SM_ISSUE, r"SM Issue( Active)?"),
    (Counter.TENSOR_ACTIVE, r"Tensor Active( / FP16 Active)?"),
    (Counter.SM_OCCUPANCY, r"Compute Warps( in Flight)?"),
    (Counter.DRAM_READ, r"(DRAM|VRAM|GPU Memory) Read (Bandwidth|Throughput)"),
    (Counter.DRAM_WRITE, r"(DRAM|VRAM|GPU Memory) Write (Bandwidth|Throughput)"),
    (Counter.PCIE_RX, r"PCIe (RX|Read) (Throughput|Bandwidth)"),
    (Counter.PCIE_TX, r"PCIe (TX|Write) (Throughput|Bandwidth)"),
    (Counter.NVLINK_RX, r"NVLink RX (Bandwidth|Throughput|(Requests|Responses) (User|Protocol) Data)"),
    (Counter.NVLINK_TX, r"NVLink TX (Bandwidth|Throughput|(Requests|Responses) (User|Protocol) Data)"),
)
_SHARES = tuple((counter, re.compile(pattern, re.IGNORECASE)) for counter, pattern in _PATTERNS)
_CLOCK = re.compile(r"GPC Clock Frequency", re.IGNORECASE)
_NAME_AND_UNIT = re.compile(r"(?P<name>.*?)\s*(\[(?P<unit>[^\]]*)\])?\s*")


def counter_of(metric_name: str) -> Counter | None:
    """The counter that a metric such as ``SMs Active [Throughput %]`` makes up, or is a part of; None: none of these.

    One metric may be sampled in several units: of shares only the percentage counts.
    """
    found = _NAME_AND_UNIT.fullmatch(metric_name)
    name, unit = (metric_name, None) if found is None else (found["name"], found["unit"])
    if _CLOCK.fullmatch(name):
        return Counter.GPC_CLOCK
    if unit is not None and "%" not in unit:
        return None
    return next((counter for counter, pattern in _SHARES if pattern.fullmatch(name)), None)
