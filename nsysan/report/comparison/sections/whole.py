"""What the step, or the window, consists of in both runs: parts and causes that add up, and how each changed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsysan.history.comparison import Comparison
from nsysan.history.differences import Difference
from nsysan.model.figures import Unit
from nsysan.report.comparison.quantities import change_cells, copied_unit, quantity, signed, value_cell
from nsysan.report.elements import Bar, Cell, Column, Table, stacked_bar
from nsysan.report.fills import PAINTS
from nsysan.report.section import Layout, Section, View

_FILLS = {**{fill: fill for fill in PAINTS}, "computing": "compute_only"}
_NO_FILL = "idle"


class ComparedBar(msgspec.Struct, frozen=True):
    """One run's bar, with what it is of."""

    label: str
    amount: str
    bar: Bar


class WholeView(View, frozen=True):
    """A bar a run on one scale, and the pieces by how much they changed."""

    bars: tuple[ComparedBar, ...]
    table: Table


def _build(comparison: Comparison) -> WholeView | None:
    whole = comparison.whole
    if whole is None or not comparison.carriers:
        return None
    pieces = [piece for piece in comparison.carriers if piece.before or piece.after]
    longest = max(whole.before or 0.0, whole.after or 0.0) or 1.0
    per = " a step" if whole.unit is Unit.NS else ""
    bars = (
        ComparedBar("before", quantity(whole.before, whole.unit), _bar(pieces, "before", longest)),
        ComparedBar("after", quantity(whole.after, whole.unit), _bar(pieces, "after", longest)),
    )
    largest = pieces[0]
    return WholeView(
        bars,
        _table(whole, pieces),
        heading=f"Most changed {largest.name}: {signed(largest.change or 0.0, largest.unit)}{per}",
        context="Both bars have one scale. The changes add up to the change of the whole."
        if per
        else "Without steps in both runs, shares of the window are all that can be compared.",
    )


def _bar(pieces: Sequence[Difference], side: str, longest: float) -> Bar:
    """The run's pieces in one order for both runs, as shares of the longer bar."""
    ordered = sorted(pieces, key=lambda piece: tuple(PAINTS).index(_fill(piece)))
    values = [(piece, (piece.before if side == "before" else piece.after) or 0.0) for piece in ordered]
    label = ", ".join(f"{piece.name} {quantity(value, piece.unit)}" for piece, value in values if value)
    return stacked_bar([(_fill(piece), value / longest) for piece, value in values], f"{side}: {label}")


def _fill(piece: Difference) -> str:
    return _FILLS.get(piece.key, _NO_FILL)


def _table(whole: Difference, pieces: Sequence[Difference]) -> Table:
    unit = copied_unit(whole.unit)
    return Table(
        id="carriers",
        caption="What it consists of, the largest change first",
        columns=(
            Column("Part"),
            Column("before", numeric=True, unit=unit, sums=True),
            Column("after", numeric=True, unit=unit, sums=True),
            Column("change", numeric=True, unit=unit, sums=True),
            Column("relative", numeric=True, unit="fraction"),
        ),
        rows=tuple((Cell(piece.name, fill=_fill(piece)), *_cells(piece)) for piece in pieces),
        footers=((Cell(whole.name, style="strong"), *_cells(whole)),),
    )


def _cells(piece: Difference) -> tuple[Cell, ...]:
    return (value_cell(piece.before, piece.unit), value_cell(piece.after, piece.unit), *change_cells(piece))


SECTION = Section("time", 20, "Time", "Where the change lies", _build, Layout.WIDE, "comparison/whole.html")
