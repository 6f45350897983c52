"""What copies between memories can reach."""

from __future__ import annotations

from nsysan.hardware.answers import Ceiling, Level, named
from nsysan.hardware.data_sheet_table import DataSheet
from nsysan.hardware.size_curve import SizeCurve
from nsysan.model.ceilings import Ceilings, Direction, HostMemory, LinkCeiling
from nsysan.model.units import NS_PER_S

_TYPICAL_OF_PCIE = {3: 12.5e9, 4: 25.5e9, 5: 55e9}
"""What copies from pinned memory reach over 16 lanes, by generation."""


def link_ceiling(
    ceilings: Ceilings | None,
    sheet: DataSheet | None,
    direction: Direction,
    memory: HostMemory | None,
    size_bytes: int,
) -> Ceiling | None:
    """Bytes per second of copies of this size; None where nothing is known. ``memory`` None: between GPUs, or unknown.

    Of several GPUs the fastest counts. Beyond the sizes measured the largest one's rate holds, below them none.
    """
    if ceilings is not None and (known := _measured(ceilings, direction, memory)):
        curve = SizeCurve.of((one.size_bytes, one.size_bytes / one.bytes_per_s * NS_PER_S) for one in known)
        return _on_curve(curve, size_bytes, named(ceilings, _words(direction, memory)))
    return _of_sheet(sheet, direction, memory)


def _measured(ceilings: Ceilings, direction: Direction, memory: HostMemory | None) -> list[LinkCeiling]:
    of_direction = [one for one in ceilings.links if one.direction is direction]
    return [one for one in of_direction if one.host_memory is memory]


def _on_curve(curve: SizeCurve, size_bytes: int, source: str) -> Ceiling | None:
    largest_bytes, largest_ns = curve.sizes_bytes[-1], curve.times_ns[-1]
    if size_bytes > largest_bytes:
        return Ceiling(largest_bytes / largest_ns * NS_PER_S, Level.PLATEAU, source)
    time_ns = curve.time_ns(size_bytes)
    if time_ns is None:
        return None
    level = Level.EXACT if curve.has(size_bytes) else Level.INTERPOLATED
    return Ceiling(size_bytes / time_ns * NS_PER_S, level, source)


def _of_sheet(sheet: DataSheet | None, direction: Direction, memory: HostMemory | None) -> Ceiling | None:
    if sheet is None:
        return None
    if direction is Direction.PEER_TO_PEER:
        rate = sheet.nvlink_bytes_per_s
        return None if rate is None else Ceiling(rate, Level.DATA_SHEET, f"{sheet.source}: NVLink's line rate")
    typical = _TYPICAL_OF_PCIE.get(sheet.pcie_generation or 0)
    if memory is not HostMemory.PINNED or typical is None:
        return None
    return Ceiling(typical, Level.DATA_SHEET, f"typical of PCIe {sheet.pcie_generation}.0 x16")


def _words(direction: Direction, memory: HostMemory | None) -> str:
    where = direction.value.replace("_", " ")
    return where if memory is None else f"{where}, {memory.value}"
