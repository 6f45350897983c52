"""Figures of any unit as text: their value, and by how much they changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nsysan.history.differences import Difference
from nsysan.model.figures import Unit
from nsysan.model.units import format_bytes, format_clock, format_duration, format_fraction, format_rate
from nsysan.report.elements import Cell

MINUS = "\u2212"
UNKNOWN = "not known"


def _format_count(count: float) -> str:
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


_FORMATS: Mapping[Unit, Callable[[float], str]] = {
    Unit.NS: format_duration,
    Unit.FRAC: format_fraction,
    Unit.BYTES: format_bytes,
    Unit.BYTES_PER_S: format_rate,
    Unit.COUNT: _format_count,
    Unit.PER_S: lambda rate: f"{_format_count(rate)}/s",
    Unit.HZ: format_clock,
}
_COPIED_UNITS = {Unit.NS: "ns", Unit.FRAC: "fraction", Unit.BYTES: "bytes", Unit.BYTES_PER_S: "bytes/s"}


def quantity(value: float | None, unit: Unit) -> str:
    """The value with its unit: ``12.345 ms``; a share as a percentage."""
    return UNKNOWN if value is None else _FORMATS[unit](value)


def signed(change: float, unit: Unit) -> str:
    """A change with its sign: ``+2.000 ms``, ``-1.5 points`` for shares; one that shows as 0 has none."""
    size = f"{100 * abs(change):.1f} points" if unit is Unit.FRAC else _FORMATS[unit](abs(change))
    return _with_sign(change, size)


def signed_fraction(change_frac: float) -> str:
    """A relative change with its sign: ``+9.3 %``."""
    return _with_sign(change_frac, format_fraction(abs(change_frac)))


def _with_sign(change: float, size: str) -> str:
    shows_nothing = not any(digit in size for digit in "123456789")
    return size if shows_nothing else f"{MINUS if change < 0 else '+'}{size}"


def change_text(difference: Difference) -> str:
    """The change as a cell of a table shows it; where the figure is of one run only, which."""
    if difference.change is not None:
        return signed(difference.change, difference.unit)
    return "gone" if difference.after is None else "new"


def relative_text(difference: Difference) -> str:
    """The change relative to before; empty where it has none. A share's is in its points already."""
    if difference.change_frac is None or difference.unit is Unit.FRAC:
        return ""
    return signed_fraction(difference.change_frac)


def value_cell(value: float | None, unit: Unit) -> Cell:
    """A value as a cell that sorts by it."""
    return Cell("", style="faint") if value is None else Cell(quantity(value, unit), value=value)


def change_cells(difference: Difference) -> tuple[Cell, Cell]:
    """The change and the relative change as cells that sort by them."""
    relative = Cell(relative_text(difference), value=difference.change_frac)
    return Cell(change_text(difference), value=difference.change), relative


def copied_unit(unit: Unit) -> str | None:
    """What the values of a column of this unit are copied in."""
    return _COPIED_UNITS.get(unit)
