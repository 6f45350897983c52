"""Which questions an export cannot answer."""

from __future__ import annotations

from collections.abc import Callable

from nsysan.ingest.nsys.questions import QUESTIONS, Evidence
from nsysan.model.contents import OpenQuestion


def open_questions(holds: Callable[[Evidence], bool]) -> tuple[OpenQuestion, ...]:
    """The questions that no evidence answers, and why; one that nothing raises is not among them.

    ``holds`` says whether the export holds a piece of evidence.
    """
    return tuple(
        OpenQuestion(question.id, question.question, f"it holds no {question.lacking}", question.recapture)
        for question in QUESTIONS
        if not any(map(holds, question.answered_by)) and (not question.raised_by or any(map(holds, question.raised_by)))
    )
