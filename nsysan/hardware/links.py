"""How fast a copy can possibly be: raw line rates, above which a recorded rate is no rate but a fault.

Rates are per direction. A PCIe lane carries 8, 16, 32 GT/s at 128b/130b in generations 3, 4, 5 (PCI-SIG base
specifications): 15.75, 31.5 and 63.0 GB/s over 16 lanes; one of generation 6 carries 64 GT/s, 128 GB/s at
most. NVLink-C2C of a Grace superchip carries 450 GB/s. Which link a GPU has stands in its data sheet.
"""

from __future__ import annotations

import re

import msgspec

from nsysan.hardware.data_sheets import sheet_named, without_mig, words_of


class LineRate(msgspec.Struct, frozen=True):
    """A rate that nothing on this link exceeds, and where the figure comes from."""

    rate_bytes_per_s: float
    source: str


PCIE_3 = LineRate(15.75e9, "PCIe 3.0 x16 line rate")
PCIE_4 = LineRate(31.5e9, "PCIe 4.0 x16 line rate")
PCIE_5 = LineRate(63.0e9, "PCIe 5.0 x16 line rate")
PCIE_6 = LineRate(128.0e9, "PCIe 6.0 x16 line rate")
NVLINK_2_HOST = LineRate(75.0e9, "NVLink 2 to a POWER9 host, 3 links")
C2C = LineRate(450.0e9, "NVLink-C2C line rate, the fastest host link of any GPU")
NVLINK_5 = LineRate(900.0e9, "NVLink 5 line rate, the fastest GPU-to-GPU link")

_PCIE = {3: PCIE_3, 4: PCIE_4, 5: PCIE_5, 6: PCIE_6}
_HOST_LINKS = {"c2c": C2C, "nvlink2": NVLINK_2_HOST}

# Models without a data sheet, by whole tokens, so that A10G is no A100.
_WITHOUT_SHEET = (
    (re.compile(r"P100|P40|GEFORCE20\d\d"), PCIE_3),
    (re.compile(r"A10G|A16|A2|A30|A40|A4000|A5000|L20|L40|ADA|GEFORCE[34]0\d\d"), PCIE_4),
    (re.compile(r"B100|GEFORCE50\d\d"), PCIE_5),
)


def host_link(gpu_name: str | None) -> LineRate:
    """The link between a GPU of this name and its host; the fastest there is where the name is not known."""
    sheet = None if gpu_name is None else sheet_named(without_mig(gpu_name))
    if sheet is None:
        return _of_name(gpu_name or "")
    if sheet.host_link is not None:
        return _HOST_LINKS[sheet.host_link]
    return _PCIE.get(sheet.pcie_generation or 0, C2C)


def _of_name(gpu_name: str) -> LineRate:
    words = words_of(gpu_name)
    tokens = {*words, *(f"GEFORCE{word}" for word in words if "GEFORCE" in words)}
    for model, link in _WITHOUT_SHEET:
        if any(model.fullmatch(token) for token in tokens):
            return link
    return C2C
