"""How fast a copy can possibly be: raw line rates, above which a recorded rate is no rate but a fault.

Rates are per direction. A PCIe lane carries 8, 16, 32 GT/s at 128b/130b in generations 3, 4, 5 (PCI-SIG base
specifications): 15.75, 31.5 and 63.0 GB/s over 16 lanes. NVLink-C2C of a Grace superchip carries 450 GB/s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LineRate:
    """A rate that nothing on this link exceeds, and where the figure comes from."""

    rate_bytes_per_s: float
    source: str


PCIE_3 = LineRate(15.75e9, "PCIe 3.0 x16 line rate")
PCIE_4 = LineRate(31.5e9, "PCIe 4.0 x16 line rate")
PCIE_5 = LineRate(63.0e9, "PCIe 5.0 x16 line rate")
NVLINK_2_HOST = LineRate(75.0e9, "NVLink 2 to a POWER9 host, 3 links")
C2C = LineRate(450.0e9, "NVLink-C2C line rate, the fastest host link of any GPU")
NVLINK_5 = LineRate(900.0e9, "NVLink 5 line rate, the fastest GPU-to-GPU link")

# Whole model tokens, so that GB200 is no B200 and L40S no L4.
_HOST_LINK_OF_MODEL = (
    (re.compile(r"GH200|GB200|GB300"), C2C),
    (re.compile(r"V100\w*"), NVLINK_2_HOST),
    (re.compile(r"T4|P100|P40|GEFORCE20\d\d"), PCIE_3),
    (re.compile(r"A100\w*|A800|A10G?|A16|A2|A30|A40|A4000|A5000|A6000|L4|L20|L40S?"), PCIE_4),
    (re.compile(r"ADA|GEFORCE[34]0\d\d"), PCIE_4),
    (re.compile(r"H100\w*|H200|H800|H20|B100|B200|B300|GEFORCE50\d\d"), PCIE_5),
)


def host_link(gpu_name: str | None) -> LineRate:
    """The link between a GPU of this name and its host; the fastest there is where the name is not known."""
    words = re.findall(r"[A-Z0-9]+", (gpu_name or "").upper())
    tokens = {*words, *(f"GEFORCE{word}" for word in words if "GEFORCE" in words)}
    for model, link in _HOST_LINK_OF_MODEL:
        if any(model.fullmatch(token) for token in tokens):
            return link
    return C2C
