"""What was copied between memories, how fast, and which rates cannot be true."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_bytes, format_count
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import spelled
from nsysan.report.section import Layout, Section, Unanswered, View, unanswered
from nsysan.report.terms import TERMS

PAGEABLE_FRAC = 0.01
"""The heading speaks of pageable memory from this share of the bytes on; the table always does."""

_PAGEABLE = "pageable"
_HOST_ENDS = ("pageable", "pinned")


class CopiesView(View, frozen=True):
    """The copies by direction and memories."""

    table: Table | None


def _build(run: Run) -> CopiesView | Unanswered:
    summary = run.results.get(CopySummary)
    if isinstance(summary, Skipped):
        return unanswered(summary, "what was copied")
    if not summary.copies:
        return CopiesView(None, heading="No copy and no memset ran in the windows")
    context = "Durations are added up over all GPUs and streams, hidden under compute or not."
    return CopiesView(_table(summary.copies), heading=_heading(summary.copies), context=context)


def _heading(rows: Sequence[CopyRow]) -> str:
    copies = [row for row in rows if row.direction != "memset"]
    if not copies:
        return f"{counted(sum(row.count for row in rows), 'memset')} and no copy ran in the windows"
    count = counted(sum(row.count for row in copies), "copy")
    unsized_count = sum(row.unsized_count for row in copies)
    if all(row.size_bytes is None for row in copies):
        return f"{count} of unknown size"
    moved = f"{format_bytes(_sized_bytes(copies))}{_pageable_clause(copies)}"
    if not unsized_count:
        return f"{count} moved {moved}"
    return f"{count} moved at least {moved}; {format_count(unsized_count)} of them are of unknown size"


def _pageable_clause(copies: Sequence[CopyRow]) -> str:
    pageable_bytes = _sized_bytes([row for row in copies if _PAGEABLE in (row.src_memory, row.dst_memory)])
    if not pageable_bytes or pageable_bytes < PAGEABLE_FRAC * _sized_bytes(copies):
        return ""
    return f", {format_bytes(pageable_bytes)} of it through pageable memory"


def _sized_bytes(copies: Sequence[CopyRow]) -> int:
    return sum(row.size_bytes for row in copies if row.size_bytes is not None)


def _table(rows: Sequence[CopyRow]) -> Table:
    return Table(
        id="copy-table",
        caption="Copies and memsets by direction and kind of memory",
        columns=(
            Column("Direction"),
            Column("host memory", TERMS["memory_kind"]),
            Column("from, to"),
            Column("count", TERMS["count"], numeric=True),
            Column("bytes", TERMS["copied_bytes"], numeric=True, unit="bytes", notes="of unknown size"),
            Column("total", TERMS["copy_time"], numeric=True, unit="ns"),
            Column("median", TERMS["median"], numeric=True, unit="ns"),
            Column("p95", TERMS["p95"], numeric=True, unit="ns"),
            Column("rate", TERMS["copy_rate"], numeric=True, unit="bytes/s"),
            Column("fastest", TERMS["fastest_copy"], numeric=True, unit="bytes/s", notes="not believable"),
        ),
        rows=tuple(_row(row) for row in rows),
        source="copies[]",
    )


def _row(row: CopyRow) -> tuple[Cell, ...]:
    return (
        Cell(spelled(row.direction)),
        _host_memory(row),
        Cell(_ends(row)),
        cells.count(row.count),
        _size(row),
        cells.duration(row.total_ns),
        cells.duration(row.median_ns),
        cells.duration(row.p95_ns),
        _rate(row, row.rate_bytes_per_s),
        _fastest(row),
    )


def _size(row: CopyRow) -> Cell:
    if row.size_bytes is None:
        return Cell("unknown", style="faint")
    unsized = f"{format_count(row.unsized_count)} of unknown size" if row.unsized_count else None
    return Cell(format_bytes(row.size_bytes), unsized, value=row.size_bytes)


def _host_memory(row: CopyRow) -> Cell:
    kinds = [kind for kind in _HOST_ENDS if kind in (row.src_memory, row.dst_memory)]
    return Cell(" and ".join(kinds), style="strong" if _PAGEABLE in kinds else None)


def _ends(row: CopyRow) -> str:
    if row.direction == "memset":
        return row.dst_memory or "not recorded"
    return f"{row.src_memory or 'not recorded'}, {row.dst_memory or 'not recorded'}"


def _rate(row: CopyRow, rate_bytes_per_s: float | None) -> Cell:
    if rate_bytes_per_s is not None:
        return cells.rate(rate_bytes_per_s)
    return Cell("unknown" if row.size_bytes is None else "no time", style="faint")


def _fastest(row: CopyRow) -> Cell:
    cell = _rate(row, row.fastest_bytes_per_s)
    if not row.implausible_count:
        return cell
    return replace(cell, note=f"{format_count(row.implausible_count)} not believable", style="strong")


SECTION = Section("copies", 60, "Copies", "What was copied, and how fast", _build, Layout.WIDE)
