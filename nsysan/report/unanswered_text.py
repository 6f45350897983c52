"""The questions that a run could not answer, in one line of text: which, and what to record."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.model.results import Skipped
from nsysan.model.units import format_count
from nsysan.report.prose import ended, listed
from nsysan.report.section import question_of

_NAMED_COUNT = 3


def unanswered_text(skipped: Sequence[Skipped]) -> str | None:
    """Which questions, and what would have recorded them where that is one thing; None where all were answered."""
    if not skipped:
        return None
    names = [question_of(each) for each in skipped[:_NAMED_COUNT]]
    others = [f"{format_count(len(skipped) - len(names))} more"] if len(skipped) > len(names) else []
    recaptures = {each.recapture for each in skipped}
    recapture = recaptures.pop() if len(recaptures) == 1 else None
    why = "The page says why, nsysan info what to record." if recapture is None else ended(recapture)
    return f"not answered: {listed([*names, *others])}. {why}"
