"""A roofline: what memory and arithmetic allow by operations a byte, and where the products of a run lie below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nsysan.analysis.gemms import GemmRoof, GemmRow
from nsysan.hardware.gemm_ceilings import Product
from nsysan.model.units import format_flop_rate, format_rate
from nsysan.report.elements import Tick, percent, pixels

HEIGHT = 260
_DECADES_BELOW = 3
_WIDEST_OCTAVES = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A straight piece of the roof; x in percent, y in pixels."""

    x1: str
    y1: str
    x2: str
    y2: str


@dataclass(frozen=True, slots=True)
class Dot:
    """Products of one shape; its size goes with the root of their time."""

    x: str
    y: str
    radius: str


@dataclass(frozen=True, slots=True)
class Roofline:
    """The chart of one data type, both axes in logarithms; ``label`` says the same in words."""

    title: str
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    height: str
    label: str


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where values lie: operations a byte from left to right, FLOP/s from the bottom up."""

    least_flop_per_byte: float
    most_flop_per_byte: float
    most_flop_per_s: float

    def x(self, flop_per_byte: float) -> float:
        span = math.log(self.most_flop_per_byte / self.least_flop_per_byte)
        return min(max(math.log(flop_per_byte / self.least_flop_per_byte) / span, 0.0), 1.0)

    def y(self, flop_per_s: float) -> float:
        share = 1 + math.log10(flop_per_s / self.most_flop_per_s) / _DECADES_BELOW
        return HEIGHT * (1 - min(max(share, 0.0), 1.0))


def roofline(roof: GemmRoof, rows: Sequence[GemmRow]) -> Roofline | None:
    """The roof of a data type with its products; None where memory's rate or every product's is unknown."""
    told = [row for row in rows if row.dtype is roof.dtype and row.flop_per_s is not None]
    if roof.memory_bytes_per_s is None or not told:
        return None
    knee = roof.flop_per_s / roof.memory_bytes_per_s
    intensities = [_flop_per_byte(row) for row in told]
    widest = 2.0**_WIDEST_OCTAVES
    frame = _Frame(
        least_flop_per_byte=min(*intensities, knee) / 2,
        most_flop_per_byte=max(*intensities, knee * widest),
        most_flop_per_s=1.3 * max(roof.flop_per_s, *(row.flop_per_s or 0.0 for row in told)),
    )
    most_ns = max(row.total_ns for row in told)
    return Roofline(
        title=(
            f"{roof.dtype.value}: {format_flop_rate(roof.flop_per_s)} ({roof.flop_source}), "
            f"{format_rate(roof.memory_bytes_per_s)} ({roof.memory_source})"
        ),
        lines=tuple(_lines(frame, roof, knee)),
        dots=tuple(_dot(frame, row, most_ns) for row in told),
        ticks=tuple(_ticks(frame)),
        height=str(HEIGHT),
        label=(
            f"Roofline of {roof.dtype.value}: at most {format_flop_rate(roof.flop_per_s)}, reached from "
            f"{knee:.0f} operations a byte on. The table below tells the same of each shape."
        ),
    )


def _flop_per_byte(row: GemmRow) -> float:
    assert row.dtype is not None
    product = Product(row.dtype, row.m, row.n, row.k, row.batch)
    return product.flop / product.moved_bytes


def _lines(frame: _Frame, roof: GemmRoof, knee: float) -> Iterator[Line]:
    assert roof.memory_bytes_per_s is not None
    # where the slope leaves the picture at the bottom, it begins there
    lowest = frame.most_flop_per_s / 10**_DECADES_BELOW
    begin = max(frame.least_flop_per_byte, lowest / roof.memory_bytes_per_s)
    top = pixels(frame.y(roof.flop_per_s))
    slope_y = pixels(frame.y(begin * roof.memory_bytes_per_s))
    yield Line(percent(frame.x(begin)), slope_y, percent(frame.x(knee)), top)
    yield Line(percent(frame.x(knee)), top, "100%", top)


def _dot(frame: _Frame, row: GemmRow, most_ns: int) -> Dot:
    rate = row.flop_per_s or 0.0
    radius = 2.5 + 5.5 * math.sqrt(row.total_ns / most_ns)
    return Dot(percent(frame.x(_flop_per_byte(row))), pixels(frame.y(rate)), pixels(radius))


def _ticks(frame: _Frame) -> Iterator[Tick]:
    """Powers of ten of operations a byte; the last says the unit."""
    first = math.ceil(math.log10(frame.least_flop_per_byte))
    last = math.floor(math.log10(frame.most_flop_per_byte))
    for power in range(first, last + 1):
        value = 10.0**power
        yield Tick(percent(frame.x(value)), f"{value:g}{' FLOP/B' if power == last else ''}", "middle")
