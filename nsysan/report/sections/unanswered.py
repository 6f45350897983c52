"""What the trace could not answer: why, and what would have recorded it. Absent is not zero."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import capitalized, ended
from nsysan.report.section import Section


@dataclass(frozen=True, slots=True)
class UnansweredView:
    """The skipped questions."""

    heading: str
    context: str
    table: Table


def question_of(skipped: Skipped) -> str:
    """What was asked, from the id of the result: ``Kernel summary``, ``GPU time``."""
    return capitalized(skipped.id.replace("_", " ").replace("gpu", "GPU"))


def _build(run: Run) -> UnansweredView | None:
    skipped = run.results.skipped()
    if not skipped:
        return None
    table = Table(
        id="skipped",
        caption="Questions that were skipped",
        columns=(Column("Question"), Column("Why there is no answer"), Column("How to have it answered")),
        rows=tuple(_row(entry) for entry in skipped),
    )
    heading = f"{counted(len(skipped), 'question')} this trace could not answer"
    return UnansweredView(heading, "Absent is not zero: none of these is counted as healthy.", table)


def _row(skipped: Skipped) -> tuple[Cell, ...]:
    recapture = skipped.recapture
    records = Cell("no way is known", style="faint") if recapture is None else Cell(recapture)
    return (Cell(question_of(skipped)), Cell(ended(capitalized(skipped.reason))), records)


SECTION = Section("unanswered", 80, "Not answered", "What this trace could not answer", _build)
