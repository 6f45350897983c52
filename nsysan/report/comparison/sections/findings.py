"""Findings that are solved, new, or still there."""

from __future__ import annotations

from nsysan.history.comparison import Comparison
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.section import Section, View

_SELDOM = ("after only", "before only")
"""What a run alone has where nobody can tell whether it is new or solved."""


class FindingChangesView(View, frozen=True):
    """One table of all findings of both runs."""

    tables: tuple[Table, ...]


def _build(comparison: Comparison) -> FindingChangesView | None:
    changes = comparison.findings
    by_state = (
        ("new", changes.new),
        ("solved", changes.solved),
        ("after only", changes.after_only),
        ("before only", changes.before_only),
        ("still there", changes.kept),
    )
    rows = tuple(
        (Cell(state, style="strong" if state == "new" else None), Cell(finding.severity.value), Cell(finding.title))
        for state, findings in by_state
        for finding in findings
    )
    if not rows:
        return None
    table = Table(
        "finding-changes",
        "Findings, matched by what they say and its cause",
        (Column("State"), Column("severity"), Column("finding")),
        rows,
        is_ordered=True,
    )
    told = [f"{len(findings)} {state}" for state, findings in by_state if findings or state not in _SELDOM]
    heading = ", ".join(told)
    return FindingChangesView((table,), heading=heading)


SECTION = Section("findings", 60, "Findings", "What stands out now", _build, template="comparison/tables.html")
