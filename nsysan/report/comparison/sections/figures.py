"""Every other figure that both runs, or one of them, tell: a table a topic, whatever analysis it comes from."""

from __future__ import annotations

from nsysan.history.comparison import Comparison
from nsysan.history.differences import Difference, TopicDifferences
from nsysan.model.units import counted
from nsysan.report.comparison.quantities import change_cells, value_cell
from nsysan.report.comparison.sections.kernels import KERNEL_TOPICS
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.section import Layout, Section, View


class FiguresView(View, frozen=True):
    """A table a topic."""

    tables: tuple[Table, ...]


def _build(comparison: Comparison) -> FiguresView | None:
    carried = {piece.id for piece in comparison.carriers}
    tables = tuple(
        _table(topic, shown, is_comparable=comparison.whole is not None)
        for topic in comparison.topics
        if topic.id not in KERNEL_TOPICS
        and (shown := [one for one in topic.differences if one.id not in carried and (one.before or one.after)])
    )
    if not tables:
        return None
    count = sum(len(table.rows) for table in tables)
    return FiguresView(tables, heading=f"{counted(count, 'more figure')} side by side")


def _table(topic: TopicDifferences, shown: list[Difference], *, is_comparable: bool) -> Table:
    return Table(
        id=topic.id.replace("_", "-"),
        caption=topic.title,
        columns=(
            Column("Figure"),
            Column("before", numeric=True),
            Column("after", numeric=True),
            Column("change", numeric=True),
            Column("relative", numeric=True, unit="fraction"),
        ),
        rows=tuple(_row(one, is_comparable=is_comparable) for one in shown),
        source=topic.id,
        fold=topic.title,
    )


def _row(one: Difference, *, is_comparable: bool) -> tuple[Cell, ...]:
    """Of runs that cannot be compared what one of them alone has is not gone, and not new."""
    is_untold = one.change is None and not is_comparable
    change = (Cell("not comparable", style="faint"), Cell("")) if is_untold else change_cells(one)
    return (Cell(one.name), value_cell(one.before, one.unit), value_cell(one.after, one.unit), *change)


SECTION = Section("figures", 70, "Figures", "Everything else", _build, Layout.WIDE, "comparison/tables.html")
