"""The bubble of each pipeline, beside that of a schedule whose stages all take equally long."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.pipelines import PipelineRow, Pipelines
from nsysan.model.units import counted, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.terms import TERMS

_SHOWN_RANKS = 8


def pipeline_table(found: Pipelines) -> Table:
    """A row a pipeline, the largest bubble first."""
    return Table(
        id="pipeline-rows",
        caption="Pipelines, and how long their stages wait for each other",
        columns=(
            Column("Ranks, first stage first"),
            Column("stages", TERMS["pipeline_size"], numeric=True),
            Column("parts a step", TERMS["pipeline_parts"], numeric=True),
            Column("steps", TERMS["pipeline_size"], numeric=True),
            Column("bubble", TERMS["pipeline_bubble"], numeric=True, unit="fraction"),
            Column("schedule alone", TERMS["ideal_bubble"], numeric=True, unit="fraction"),
            Column("least on a rank", TERMS["pipeline_bubble"], numeric=True, unit="ns"),
            Column("most", TERMS["pipeline_bubble"], numeric=True, unit="ns"),
        ),
        rows=tuple(_cells(row) for row in found.pipelines),
        note=_omitted(found.pipelines_omitted_count),
        source="pipelines[]",
    )


def pipeline_sentence(rows: Sequence[PipelineRow]) -> str | None:
    """How large the largest bubble is, and whether the schedule explains it; None where there is no pipeline."""
    if not rows:
        return None
    first = rows[0]
    whole = "their steps" if first.step_count is not None else "their windows"
    stages = counted(len(first.ranks), "stage")
    measured = f"The {stages} of a pipeline wait {format_fraction(first.bubble_frac)} of {whole} for each other"
    if first.ideal_frac is None or first.part_count is None:
        return f"{measured}; how many parts a step has is not told."
    others = len(first.ranks) - 1
    formula = f"{others} ÷ ({first.part_count} + {others}) = {format_fraction(first.ideal_frac)}"
    alone = f"{counted(first.part_count, 'part')} a step alone make {formula}"
    return f"{measured}: {alone}{', so stages are uneven or messages slow' if first.is_uneven else ''}."


def _cells(row: PipelineRow) -> tuple[Cell, ...]:
    shown = ", ".join(map(str, row.ranks[:_SHOWN_RANKS]))
    return (
        Cell(shown if len(row.ranks) <= _SHOWN_RANKS else f"{shown}, …", value=row.ranks[0]),
        cells.count(len(row.ranks)),
        Cell("unknown", style="faint") if row.part_count is None else cells.count(row.part_count),
        Cell("no steps", style="faint") if row.step_count is None else cells.count(row.step_count),
        cells.fraction(row.bubble_frac, "unknown"),
        cells.fraction(row.ideal_frac, "unknown"),
        cells.duration(min(row.bubble_by_rank_ns)),
        cells.duration(max(row.bubble_by_rank_ns)),
    )


def _omitted(count: int) -> str | None:
    return f"{counted(count, 'more pipeline')}, with smaller bubbles, are not shown." if count else None
