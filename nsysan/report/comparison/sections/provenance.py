"""What is not the same in both runs, and what that means for their figures."""

from __future__ import annotations

from nsysan.history.comparison import Comparison
from nsysan.model.figures import Bearing
from nsysan.model.units import counted
from nsysan.report.comparison.quantities import UNKNOWN
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import capitalized, ended, listed, spelled
from nsysan.report.section import Layout, Section, View

_MEANING = {
    Bearing.FORBIDS: Cell("two different things", style="strong"),
    Bearing.CAUTIONS: Cell("to be known", style="faint"),
}


class ConditionsView(View, frozen=True):
    """The conditions that differ, and the questions that one run alone answers."""

    tables: tuple[Table, ...]


def _build(comparison: Comparison) -> ConditionsView:
    tables = (_runs(comparison), _obstacles(comparison), _questions(comparison))
    forbidding = len(comparison.forbidding)
    heading = (
        f"{capitalized(counted(forbidding, 'difference'))} in what ran or was recorded: mind the figures"
        if forbidding
        else "Nothing known forbids to compare these runs"
    )
    return ConditionsView(tuple(table for table in tables if table is not None), heading=heading)


def _runs(comparison: Comparison) -> Table:
    rows = tuple(
        (Cell(side), Cell(listed(run.reports), style="name"), Cell(run.created_utc), Cell(run.nsysan_version))
        for side, run in (("before", comparison.before), ("after", comparison.after))
    )
    columns = (Column("Run"), Column("reports"), Column("analysed (UTC)"), Column("by nsysan"))
    return Table("runs", "The runs", columns, rows, is_ordered=True)


def _obstacles(comparison: Comparison) -> Table | None:
    rows = tuple(
        (Cell(one.name), Cell(one.before or UNKNOWN), Cell(one.after or UNKNOWN), _MEANING[one.bearing])
        for one in comparison.obstacles
    )
    columns = (Column("Condition"), Column("before"), Column("after"), Column("makes the runs"))
    return Table("conditions", "What is not the same", columns, rows, is_ordered=True) if rows else None


def _questions(comparison: Comparison) -> Table | None:
    rows = tuple(
        (Cell(spelled(one.id)), Cell(one.missing_in), Cell(ended(capitalized(one.reason)), one.recapture))
        for one in comparison.one_sided
    )
    columns = (Column("Question"), Column("no answer"), Column("because", notes="what records it"))
    return Table("one-sided", "What only one run answers", columns, rows, is_ordered=True) if rows else None


SECTION = Section(
    "provenance", 80, "Provenance", "What stands against a comparison", _build, Layout.WIDE, "comparison/tables.html"
)
