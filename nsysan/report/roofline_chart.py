"""A roofline: what memory and arithmetic allow by operations a byte, and where the products of a run lie below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from nsysan.analysis.gemms import GemmRoof, GemmRow
from nsysan.hardware.answers import names_a_measurement
from nsysan.hardware.gemm_ceilings import Product
from nsysan.model.units import TERA, format_flop_rate, format_rate
from nsysan.report.axis import round_levels
from nsysan.report.elements import GridLine, Tick, percent, pixels

HEIGHT = 260
_ROOM = 24
"""Above the highest level, so that its label has a place."""
_MOST_DECADES = 3
"""So far below the highest rate products and the roof are told apart; what is lower lies at the bottom."""
_ROOM_LEFT, _ROOM_RIGHT = 4.0, 2.0
"""Times the least and the most operations a byte, so that dots lie neither on the labels nor on the edge."""
_LEAST_RIGHT_OF_KNEE = 2.0
_LAST_MIDDLE_LABEL = 0.9


class Line(msgspec.Struct, frozen=True):
    """A straight piece of the roof; x in percent, y in pixels; dashed where its ceiling is promised, not measured."""

    x1: str
    y1: str
    x2: str
    y2: str
    is_promised: bool


class Dot(msgspec.Struct, frozen=True):
    """Products of one shape; its size goes with the root of their time."""

    x: str
    y: str
    radius: str


class Roofline(msgspec.Struct, frozen=True):
    """The chart of one data type, both axes in logarithms; ``label`` says the same in words."""

    title: str
    grid: tuple[GridLine, ...]
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    height: str
    label: str


class _Frame(msgspec.Struct, frozen=True):
    """Where values lie: operations a byte from left to right, FLOP/s from the lowest level up to the highest."""

    least_flop_per_byte: float
    most_flop_per_byte: float
    levels_flop_per_s: Sequence[float]

    def x(self, flop_per_byte: float) -> float:
        span = math.log(self.most_flop_per_byte / self.least_flop_per_byte)
        return min(max(math.log(flop_per_byte / self.least_flop_per_byte) / span, 0.0), 1.0)

    def y(self, flop_per_s: float) -> float:
        low, high = self.levels_flop_per_s[0], self.levels_flop_per_s[-1]
        share = math.log(flop_per_s / low) / math.log(high / low)
        return HEIGHT - (HEIGHT - _ROOM) * min(max(share, 0.0), 1.0)


def roofline(roof: GemmRoof, rows: Sequence[GemmRow]) -> Roofline | None:
    """The roof of a data type with its products; None where memory's rate or every product's is unknown."""
    told = [row for row in rows if row.dtype is roof.dtype and row.flop_per_s is not None]
    if roof.memory_bytes_per_s is None or not told:
        return None
    knee = roof.flop_per_s / roof.memory_bytes_per_s
    frame = _frame(roof.flop_per_s, knee, told)
    most_ns = max(row.total_ns for row in told)
    return Roofline(
        title=(
            f"{roof.dtype.value}: {format_flop_rate(roof.flop_per_s)} ({roof.flop_source}), "
            f"{format_rate(roof.memory_bytes_per_s)} ({roof.memory_source})"
        ),
        grid=tuple(GridLine(pixels(frame.y(level)), _level_label(level)) for level in frame.levels_flop_per_s),
        lines=tuple(_lines(frame, roof, knee)),
        dots=tuple(_dot(frame, row, most_ns) for row in told),
        ticks=tuple(_ticks(frame)),
        height=str(HEIGHT),
        label=(
            f"Roofline of {roof.dtype.value}: at most {format_flop_rate(roof.flop_per_s)}, reached from "
            f"{knee:.0f} operations a byte on. The table below tells the same of each shape."
        ),
    )


def _frame(peak_flop_per_s: float, knee: float, told: Sequence[GemmRow]) -> _Frame:
    """What holds the knee and every product, with both axes no longer than that needs."""
    intensities = [_flop_per_byte(row) for row in told]
    rates = [row.flop_per_s for row in told if row.flop_per_s is not None]
    most_flop_per_s = max(peak_flop_per_s, *rates)
    least_flop_per_s = max(min(rates), most_flop_per_s / 10**_MOST_DECADES)
    return _Frame(
        least_flop_per_byte=min(*intensities, knee) / _ROOM_LEFT,
        most_flop_per_byte=max(_ROOM_RIGHT * max(intensities), _LEAST_RIGHT_OF_KNEE * knee),
        # a level below the least, so that it is clear of the axis
        levels_flop_per_s=round_levels(least_flop_per_s / 2, most_flop_per_s),
    )


def _level_label(flop_per_s: float) -> str:
    return f"{flop_per_s / TERA:,.10g} TFLOP/s"


def _flop_per_byte(row: GemmRow) -> float:
    assert row.dtype is not None
    product = Product(row.dtype, row.m, row.n, row.k, row.batch)
    return product.flop / product.moved_bytes


def _lines(frame: _Frame, roof: GemmRoof, knee: float) -> Iterator[Line]:
    assert roof.memory_bytes_per_s is not None
    assert roof.memory_source is not None
    # where the slope leaves the picture at the bottom, it begins there
    begin = max(frame.least_flop_per_byte, frame.levels_flop_per_s[0] / roof.memory_bytes_per_s)
    top, middle = pixels(frame.y(roof.flop_per_s)), percent(frame.x(knee))
    slope_y = pixels(frame.y(begin * roof.memory_bytes_per_s))
    yield Line(percent(frame.x(begin)), slope_y, middle, top, not names_a_measurement(roof.memory_source))
    yield Line(middle, top, "100%", top, not names_a_measurement(roof.flop_source))


def _dot(frame: _Frame, row: GemmRow, most_ns: int) -> Dot:
    rate = row.flop_per_s or 0.0
    radius = 2.5 + 5.5 * math.sqrt(row.total_ns / most_ns)
    return Dot(percent(frame.x(_flop_per_byte(row))), pixels(frame.y(rate)), pixels(radius))


def _ticks(frame: _Frame) -> Iterator[Tick]:
    """Round numbers of operations a byte; the last says the unit."""
    least, most = frame.least_flop_per_byte, frame.most_flop_per_byte
    values = [value for value in round_levels(least, most) if least <= value <= most]
    for left, value in zip(reversed(range(len(values))), values, strict=True):
        x, unit = frame.x(value), "" if left else " FLOP/B"
        yield Tick(percent(x), f"{value:,.10g}{unit}", "middle" if x < _LAST_MIDDLE_LABEL else "end", bool(left % 2))
