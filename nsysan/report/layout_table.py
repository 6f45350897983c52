"""The job's layout over its GPUs and those beside it, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.model.units import format_bytes, format_duration
from nsysan.planning.throughput import LayoutRow
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import spelled
from nsysan.report.terms import TERMS


def layout_table(rows: Sequence[LayoutRow]) -> Table | None:
    """What a GPU sends in a step and holds in each; None where the layout is not known."""
    if not rows:
        return None
    return Table(
        id="layouts",
        caption="Layouts by formula: the job's own, and each with half as many ranks to share one thing",
        columns=(
            Column("Layout"),
            Column("tensor", TERMS["parallel_degree"], numeric=True),
            Column("pipeline", TERMS["parallel_degree"], numeric=True),
            Column("expert", TERMS["parallel_degree"], numeric=True),
            Column("context", TERMS["parallel_degree"], numeric=True),
            Column("data", TERMS["parallel_degree"], numeric=True),
            Column("sends a step", TERMS["layout_sends"], numeric=True, unit="bytes"),
            Column("takes at known rates", TERMS["layout_takes"], numeric=True, unit="ns"),
            Column("holds", TERMS["layout_holds"], numeric=True, unit="bytes"),
        ),
        rows=tuple(_cells(row) for row in rows),
        source="throughput.layouts[]",
        is_ordered=True,
    )


def _cells(row: LayoutRow) -> tuple[Cell, ...]:
    name = "this job's" if row.halved is None else f"{spelled(row.halved)}ism over half"
    sharing = (row.tensor_parallel, row.pipeline_parallel, row.expert_parallel, row.context_parallel)
    taken_ns = row.transfer_ns_per_step
    return (
        Cell(name),
        *(Cell(str(degree), value=degree) for degree in (*sharing, row.data_parallel)),
        Cell(format_bytes(row.sent_bytes_per_step), value=row.sent_bytes_per_step),
        Cell("not known" if taken_ns is None else format_duration(taken_ns), value=taken_ns),
        Cell(format_bytes(row.held_bytes), value=row.held_bytes),
    )
