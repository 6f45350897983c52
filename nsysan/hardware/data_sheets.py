"""What NVIDIA promises of a GPU, by the name that the driver gives it, dense rates only.

A name is taken apart into words, all of which must be known: GB200 is no B200, L40S no L4, A10G no A10, and a laptop's
RTX 4090 is not the desktop's. Where the name is not known, peaks follow from compute capability, number of SMs and
clock (``peak_rates``), and are marked estimated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from nsysan.hardware.data_sheet_table import DataSheet, data_sheets
from nsysan.hardware.peak_rates import peak_flop_per_s
from nsysan.model.ceilings import Dtype

_SAYS_NOTHING = re.compile(r"NVIDIA|TESLA|QUADRO|GPU|\d+GB?|SXM\d?|HBM\d?E?|RTX|GEFORCE|GENERATION|EDITION|DGXS?|LS|AC")
"""Words that do not tell one model of the table from another; what does is a sheet's own."""
_SCALED_FEWEST = 0.02
"""A part of a GPU with a smaller share of its SMs than this is no part of it, but damage."""


class GpuFacts(msgspec.Struct, frozen=True):
    """What is told of a GPU; null where nothing tells it."""

    name: str | None
    sm_count: int | None = None
    capability: tuple[int, int] | None = None
    sm_clock_hz: float | None = None
    memory_bytes_per_s: float | None = None
    memory_bytes: int | None = None
    driver_version: str | None = None


def sheet_named(name: str) -> DataSheet | None:
    """The sheet of the model that the driver calls so, None where no sheet knows every word of the name."""
    words = words_of(name)
    fitting = [sheet for sheet in data_sheets() if _fits(sheet, words)]
    return max(fitting, key=lambda sheet: _words_met(sheet, words), default=None)


def sheet_of(facts: GpuFacts) -> DataSheet | None:
    """What the GPU is promised to reach: its sheet, a share of it for a part of a GPU, else an estimate; None: nothing.

    A capability that differs from the sheet's means that the name tells of something else.
    """
    sheet = None if facts.name is None else _with_memory_told(sheet_named(without_mig(facts.name)), facts)
    if sheet is None or facts.capability not in {None, sheet.capability}:
        return _estimated(facts)
    if facts.sm_count in {None, sheet.sm_count}:
        return sheet
    share = (facts.sm_count or 0) / sheet.sm_count
    return _scaled(sheet, share) if share >= _SCALED_FEWEST else None


def words_of(name: str) -> frozenset[str]:
    """The words of a GPU's name: letters and digits, in capitals."""
    return frozenset(re.findall(r"[A-Z0-9]+", name.upper()))


def without_mig(name: str) -> str:
    """The name of the GPU of which this may be a part: ``NVIDIA H100 80GB HBM3 MIG 1g.10gb`` is a part of an H100."""
    return re.sub(r"\s+MIG\b.*", "", name)


def _fits(sheet: DataSheet, words: frozenset[str]) -> bool:
    known = frozenset().union(*sheet.spellings, sheet.also_called)
    return _words_met(sheet, words) > 0 and all(word in known or _SAYS_NOTHING.fullmatch(word) for word in words)


def _words_met(sheet: DataSheet, words: frozenset[str]) -> int:
    """How many words the longest spelling has that the name holds."""
    return max((len(spelling) for spelling in sheet.spellings if spelling <= words), default=0)


def _with_memory_told(sheet: DataSheet | None, facts: GpuFacts) -> DataSheet | None:
    """The sheet among those of one model that has the memory which the GPU is told to have."""
    if sheet is None or facts.memory_bytes is None or facts.name is None:
        return sheet
    words = words_of(without_mig(facts.name))
    alike = [other for other in data_sheets() if _fits(other, words)]
    return min(alike, key=lambda other: abs(other.memory_bytes - (facts.memory_bytes or 0)))


def _scaled(sheet: DataSheet, share: float) -> DataSheet:
    """A part of the GPU: compute by its SMs. Memory is cut in other shares, so that of the whole is an upper bound."""
    return replace(
        sheet,
        sm_count=round(sheet.sm_count * share),
        flop_per_s={dtype: rate * share for dtype, rate in sheet.flop_per_s.items()},
        source=f"{sheet.source}, by the share of its SMs",
        is_estimated=True,
    )


def _estimated(facts: GpuFacts) -> DataSheet | None:
    if facts.capability is None or facts.sm_count is None or facts.sm_clock_hz is None:
        return None
    rates = peak_flop_per_s(facts.capability, facts.sm_count, facts.sm_clock_hz, is_geforce=_is_geforce(facts.name))
    if not rates:
        return None
    return DataSheet(
        model=facts.name or "unknown GPU",
        capability=facts.capability,
        sm_count=facts.sm_count,
        flop_per_s=rates,
        memory_bytes=facts.memory_bytes or 0,
        memory_bytes_per_s=facts.memory_bytes_per_s,
        nvlink_bytes_per_s=None,
        pcie_generation=None,
        source=f"estimate: {facts.sm_count} SMs at {facts.sm_clock_hz / 1e6:.0f} MHz",
        is_estimated=True,
    )


def _is_geforce(name: str | None) -> bool:
    return name is not None and "GEFORCE" in words_of(name)


def upper_bounds(sheet: DataSheet, sm_clock_most_hz: float | None) -> Mapping[Dtype, float]:
    """What no product can exceed: the greater of sheet and formula at the highest clock, for a sheet is no bound."""
    if sm_clock_most_hz is None:
        return sheet.flop_per_s
    geforce = _is_geforce(sheet.model)
    by_clock = peak_flop_per_s(sheet.capability, sheet.sm_count, sm_clock_most_hz, is_geforce=geforce)
    return {dtype: max(rate, by_clock.get(dtype, 0.0)) for dtype, rate in sheet.flop_per_s.items()}
