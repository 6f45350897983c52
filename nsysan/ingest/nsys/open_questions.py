"""Which questions an export cannot answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nsysan.ingest.nsys.questions import QUESTIONS, Evidence, Question
from nsysan.model.contents import OpenQuestion

Holds = Callable[[Evidence], bool | None]
"""Whether the export holds a piece of evidence, None where it was not looked for everywhere."""


def open_questions(holds: Holds) -> tuple[OpenQuestion, ...]:
    """The questions that no evidence answers, and why; one that nothing raises is not among them."""
    return tuple(
        OpenQuestion(question.id, question.question, f"it holds no {question.lacking}", question.recapture)
        for question in QUESTIONS
        if _is_open(question, holds)
    )


def undecided_questions(holds: Holds) -> tuple[str, ...]:
    """The ids of the questions of which it is not known whether they are open."""
    return tuple(question.id for question in QUESTIONS if _is_open(question, holds) is None)


def _is_open(question: Question, holds: Holds) -> bool | None:
    is_answered = _any(map(holds, question.answered_by))
    is_raised = not question.raised_by or _any(map(holds, question.raised_by))
    if is_answered or is_raised is False:
        return False
    return True if is_raised and is_answered is False else None


def _any(found: Iterable[bool | None]) -> bool | None:
    """Whether any is true, None where that is not known."""
    unknown = False
    for each in found:
        if each:
            return True
        unknown |= each is None
    return None if unknown else False
