"""What to fix first: the first advice of the finding that the headline is about."""

from __future__ import annotations

from nsysan.model.run import Run
from nsysan.report.prose import Phrase, Sentence, ended, uncapitalized


def first_fix(run: Run) -> Sentence | None:
    """The advice without what it presumes, which its finding says; None where no headline has advice."""
    headline = run.diagnosis.headline
    for number, finding in enumerate(run.findings, start=1):
        if headline is not None and finding.id == headline.finding and finding.advice:
            advice = finding.advice[0].split(". ")[0]
            return (Phrase("Fix first", f"finding-{number}"), Phrase(f": {_going_on(ended(advice))}"))
    return None


def _going_on(sentence: str) -> str:
    """The sentence as it goes on after a colon, unless it begins with a name."""
    first, _, _ = sentence.partition(" ")
    return uncapitalized(sentence) if first.istitle() else sentence
