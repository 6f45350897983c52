"""The data sheets of ``data_sheets.json``.

Rates there are dense TFLOP/s (TOP/s of int8) accumulated in fp32: many sheets print those with 2:4 sparsity, which are
exactly twice these. fp64 is that of tensor cores where there are any. GB are 10^9 bytes, NVLink is per direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from nsysan.model.ceilings import Dtype

_TERA = 1e12
_GIGA = 1e9


class DataSheet(msgspec.Struct, frozen=True):
    """What a GPU is promised to reach; null is what the sheet does not have.

    ``host_link`` names a link to the host that is faster than PCIe. ``spellings`` are sets of words, each of which
    names the model; ``also_called`` words may stand beside them.
    """

    model: str
    capability: tuple[int, int]
    sm_count: int
    flop_per_s: Mapping[Dtype, float]
    memory_bytes: int
    memory_bytes_per_s: float | None
    nvlink_bytes_per_s: float | None
    pcie_generation: int | None
    source: str
    spellings: tuple[frozenset[str], ...] = ()
    also_called: frozenset[str] = frozenset()
    is_estimated: bool = False
    host_link: str | None = None


class _Row(msgspec.Struct, frozen=True):
    """A sheet as it stands in the file; each of ``names`` is words that together name the model."""

    model: str
    names: tuple[str, ...]
    capability: tuple[int, int]
    sm_count: int
    tflop_per_s: dict[Dtype, float]
    memory_gb: float
    memory_gb_per_s: float
    nvlink_gb_per_s: float | None
    pcie_generation: int
    source: str
    also: str = ""
    host_link: str | None = None

    def sheet(self) -> DataSheet:
        return DataSheet(
            model=self.model,
            capability=self.capability,
            sm_count=self.sm_count,
            flop_per_s={dtype: rate * _TERA for dtype, rate in self.tflop_per_s.items()},
            memory_bytes=round(self.memory_gb * _GIGA),
            memory_bytes_per_s=self.memory_gb_per_s * _GIGA,
            nvlink_bytes_per_s=None if self.nvlink_gb_per_s is None else self.nvlink_gb_per_s * _GIGA,
            pcie_generation=self.pcie_generation,
            source=self.source,
            spellings=tuple(frozenset(name.split()) for name in self.names),
            also_called=frozenset(self.also.split()),
            host_link=self.host_link,
        )


@cache
def data_sheets() -> tuple[DataSheet, ...]:
    """Every sheet."""
    data = Path(__file__).with_name("data_sheets.json").read_bytes()
    return tuple(row.sheet() for row in msgspec.json.decode(data, type=tuple[_Row, ...]))
