"""The sentence to repeat in a meeting, and what else to know."""

from __future__ import annotations

from nsysan.history.comparison import Comparison
from nsysan.model.units import counted
from nsysan.report.comparison.sentences import sentences_of, state_comparison
from nsysan.report.prose import Phrase, listed
from nsysan.report.section import Layout, Section
from nsysan.report.sections.verdict import VerdictView


def _build(comparison: Comparison) -> VerdictView:
    before, after = comparison.before, comparison.after
    shown = tuple((Phrase(sentence),) for sentence in sentences_of(comparison))
    count = len(comparison.obstacles) + len(comparison.one_sided)
    facts = (f"{counted(count, 'condition')} not the same",) if count else ()
    subject = f"{listed(after.reports)} against {listed(before.reports)}"
    return VerdictView(subject, facts, None, shown, heading=state_comparison(comparison))


SECTION = Section("verdict", 0, "Verdict", "What changed", _build, Layout.OPEN, "sections/verdict.html")
