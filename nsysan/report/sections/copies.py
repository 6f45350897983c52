"""What was copied between memories, how fast, and which rates cannot be true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_bytes, format_count, format_duration, format_rate
from nsysan.report.elements import Cell, Column, Table, Term
from nsysan.report.prose import capitalized
from nsysan.report.section import Layout, Section, Unanswered, unanswered
from nsysan.report.terms import TERMS

PAGEABLE_FRAC = 0.01
"""The heading speaks of pageable memory from this share of the bytes on; the table always does."""

_PAGEABLE = "pageable"
_HOST_ENDS = ("pageable", "pinned")


@dataclass(frozen=True, slots=True)
class CopiesView:
    """The copies by direction and memories; ``implausible`` says which rates cannot be true, and why."""

    heading: str
    context: str | None
    table: Table | None
    implausible: tuple[str, ...]
    implausible_term: Term = TERMS["implausible"]


def _build(run: Run) -> CopiesView | Unanswered:
    summary = run.results.get(CopySummary)
    if isinstance(summary, Skipped):
        return unanswered(summary, "what was copied")
    if not summary.copies:
        return CopiesView("No copy and no memset ran in the windows", None, None, ())
    implausible = tuple(_implausible_sentence(row) for row in summary.copies if row.implausible_count)
    context = "Durations are added up over all GPUs and streams, hidden under compute or not."
    return CopiesView(_heading(summary.copies), context, _table(summary.copies), implausible)


def _heading(rows: Sequence[CopyRow]) -> str:
    copies = [row for row in rows if row.direction != "memset"]
    if not copies:
        return f"{counted(sum(row.count for row in rows), 'memset')} and no copy ran in the windows"
    size_bytes = sum(row.size_bytes or 0 for row in copies)
    clause = f"{counted(sum(row.count for row in copies), 'copy')} moved {format_bytes(size_bytes)}"
    pageable_bytes = sum(row.size_bytes or 0 for row in copies if _PAGEABLE in (row.src_memory, row.dst_memory))
    if not size_bytes or pageable_bytes < PAGEABLE_FRAC * size_bytes:
        return clause
    return f"{clause}, {format_bytes(pageable_bytes)} of it through pageable memory"


def _table(rows: Sequence[CopyRow]) -> Table:
    return Table(
        id="copy-table",
        caption="Copies and memsets by direction and kind of memory",
        columns=(
            Column("Direction"),
            Column("host memory", TERMS["memory_kind"]),
            Column("from, to"),
            Column("count", numeric=True),
            Column("bytes", numeric=True),
            Column("total", numeric=True),
            Column("median", TERMS["median"], numeric=True),
            Column("p95", TERMS["p95"], numeric=True),
            Column("rate", TERMS["copy_rate"], numeric=True),
            Column("fastest", TERMS["copy_rate"], numeric=True),
        ),
        rows=tuple(_row(row) for row in rows),
    )


def _row(row: CopyRow) -> tuple[Cell, ...]:
    return (
        Cell(_direction(row)),
        _host_memory(row),
        Cell(_ends(row)),
        Cell(format_count(row.count)),
        Cell("unknown" if row.size_bytes is None else format_bytes(row.size_bytes)),
        Cell(format_duration(row.total_ns)),
        Cell(format_duration(row.median_ns)),
        Cell(format_duration(row.p95_ns)),
        _rate(row, row.rate_bytes_per_s),
        _fastest(row),
    )


def _direction(row: CopyRow) -> str:
    return row.direction.replace("_", " ")


def _host_memory(row: CopyRow) -> Cell:
    kinds = [kind for kind in _HOST_ENDS if kind in (row.src_memory, row.dst_memory)]
    return Cell(" and ".join(kinds), style="strong" if _PAGEABLE in kinds else None)


def _ends(row: CopyRow) -> str:
    if row.direction == "memset":
        return row.dst_memory or "not recorded"
    return f"{row.src_memory or 'not recorded'}, {row.dst_memory or 'not recorded'}"


def _rate(row: CopyRow, rate_bytes_per_s: float | None) -> Cell:
    if rate_bytes_per_s is not None:
        return Cell(format_rate(rate_bytes_per_s))
    return Cell("unknown" if row.size_bytes is None else "no time", style="faint")


def _fastest(row: CopyRow) -> Cell:
    cell = _rate(row, row.fastest_bytes_per_s)
    if not row.implausible_count:
        return cell
    return Cell(cell.text, f"{format_count(row.implausible_count)} not believable", style="strong")


def _implausible_sentence(row: CopyRow) -> str:
    which = f"{capitalized(_direction(row))} ({_ends(row)}): {counted(row.implausible_count, 'record')} of "
    which += f"{format_count(row.count)} cannot be true"
    if row.plausible_bytes_per_s is None:
        return f"{which}: bytes were moved in no time."
    source = f" ({row.plausible_source})" if row.plausible_source else ""
    return f"{which}: faster than {format_rate(row.plausible_bytes_per_s)}{source}, or bytes moved in no time."


SECTION = Section("copies", 60, "Copies", "What was copied, and how fast", _build, Layout.WIDE)
