"""Copies faster than any link: their sizes or times are wrong, and their rates say nothing."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted, format_count, format_rate
from nsysan.model.verdicts import Severity


def find_implausible_copies(results: ResultSet) -> Iterable[Finding]:
    """One warning over all copies that moved faster than their link can, or bytes in no time."""
    summary = results.get(CopySummary)
    if isinstance(summary, Skipped):
        return
    suspects = [row for row in summary.copies if row.implausible_count]
    if not suspects:
        return
    count = sum(row.implausible_count for row in suspects)
    yield notice(
        RULE.id,
        Severity.WARNING,
        f"{counted(count, 'memory operation')} faster than any link between these memories",
        (Evidence(_sentence(row), CopySummary.id) for row in suspects),
        "Do not trust these rates: check the report's diagnostics for lost or reordered records.",
    )


RULE = Rule("implausible_copies", find_implausible_copies)


def _sentence(row: CopyRow) -> str:
    fastest = "in no time" if row.fastest_bytes_per_s is None else f"at up to {format_rate(row.fastest_bytes_per_s)}"
    bound = (
        ""
        if row.plausible_bytes_per_s is None
        else f"; {row.plausible_source}: {format_rate(row.plausible_bytes_per_s)}"
    )
    name = spelled(row.direction)
    return f"{format_count(row.implausible_count)} of {format_count(row.count)} {name}, {fastest}{bound}."
