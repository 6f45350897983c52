"""What was left unanswered: why, and what would answer it. Absent is not zero."""

from __future__ import annotations

from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import capitalized, ended
from nsysan.report.section import Section, View, question_of


class UnansweredView(View, frozen=True):
    """The skipped questions."""

    table: Table


def _build(run: Run) -> UnansweredView | None:
    skipped = run.results.skipped()
    if not skipped:
        return None
    table = Table(
        id="skipped",
        caption="Questions that were skipped",
        columns=(Column("Question"), Column("Why there is no answer"), Column("What would answer it")),
        rows=tuple(_row(entry) for entry in skipped),
        source="skipped[]",
    )
    heading = f"{counted(len(skipped), 'question')} left unanswered"
    return UnansweredView(table, heading=heading, context="Absent is not zero: none of these is counted as healthy.")


def _row(skipped: Skipped) -> tuple[Cell, ...]:
    recapture = skipped.recapture
    answer = Cell("no way is known", style="faint") if recapture is None else Cell(recapture)
    return (Cell(question_of(skipped)), Cell(ended(capitalized(skipped.reason))), answer)


SECTION = Section("unanswered", 80, "Not answered", "What was left unanswered", _build)
