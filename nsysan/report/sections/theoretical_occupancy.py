"""How much of a multiprocessor kernels could fill, by what they ask for. Theoretical: nothing of it was measured."""

from __future__ import annotations

from nsysan.analysis.theoretical_occupancy import Occupancy, OccupancyOfKernel
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import format_count, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table, single_bar
from nsysan.report.prose import spelled
from nsysan.report.section import Layout, Section, View
from nsysan.report.terms import TERMS

SHOWN_KERNEL_COUNT = 20


class OccupancyView(View, frozen=True):
    """The kernels with the most time and what limits them."""

    tables: tuple[Table, ...]


def _build(run: Run) -> OccupancyView | None:
    found = run.results.get(Occupancy)
    if isinstance(found, Skipped):
        return None
    return OccupancyView(
        heading=f"Kernels could fill {format_fraction(found.theoretical_occupancy_frac)} of the warps, by their time",
        context="Theoretical occupancy from registers, shared memory and block size; nothing of it was measured. "
        "Matrix products do well with little of it: it is a hint where a memory-bound kernel is slow.",
        tables=(_table(found),),
    )


def _table(found: Occupancy) -> Table:
    rows = found.theoretical_occupancy
    omitted_count = len(rows) - SHOWN_KERNEL_COUNT + found.theoretical_occupancy_omitted_count
    return Table(
        id="occupancy-table",
        caption="Theoretical occupancy of the kernels with the most time",
        columns=(
            Column("Kernel"),
            Column("Occupancy", bar=True),
            Column("theoretical", TERMS["theoretical_occupancy"], numeric=True, unit="fraction"),
            Column("least", TERMS["least_occupancy"], numeric=True, unit="fraction"),
            Column("limited by", TERMS["occupancy_limiter"]),
            Column("count", TERMS["count"], numeric=True),
            Column("total", TERMS["kernel_time"], numeric=True, unit="ns"),
        ),
        rows=tuple(_row(row) for row in rows[:SHOWN_KERNEL_COUNT]),
        note=f"{format_count(omitted_count)} more kernels are left out here." if omitted_count > 0 else None,
        source="theoretical_occupancy[]",
        fold="by kernel",
    )


def _row(row: OccupancyOfKernel) -> tuple[Cell, ...]:
    return (
        Cell(row.name, style="name"),
        Cell("", bar=single_bar("host", row.theoretical_frac)),
        cells.fraction(row.theoretical_frac, "unknown"),
        cells.fraction(row.least_frac, "unknown"),
        Cell(spelled(row.limiter.value)),
        cells.count(row.count),
        cells.duration(row.total_ns),
    )


SECTION = Section(
    "theoretical_occupancy", 57, "Occupancy", "How much of a multiprocessor kernels could fill", _build, Layout.WIDE
)
