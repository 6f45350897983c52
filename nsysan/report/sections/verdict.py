"""The verdict: what the run is about, and the sentences to repeat in a meeting."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.model.run import Run
from nsysan.report.late_ranks import state_late_rank
from nsysan.report.look_next import look_next
from nsysan.report.prose import Sentence
from nsysan.report.section import Layout, Section, View
from nsysan.report.steady_waits import state_wait
from nsysan.report.verdict import facts_of, state_step, state_verdict, subject_of
from nsysan.report.walk import WalkStop, walk_of


@dataclass(frozen=True, slots=True)
class VerdictView(View):
    """The subject of the page with a few facts about it, the verdict, and the walk to it."""

    subject: str
    facts: tuple[str, ...]
    why: str | None
    details: tuple[Sentence, ...]
    walk: tuple[WalkStop, ...] = ()


def _build(run: Run) -> VerdictView:
    verdict = state_verdict(run)
    others = (state_late_rank(run), state_step(run), state_wait(run), look_next(run))
    details = (*verdict.details, *filter(None, others))
    return VerdictView(subject_of(run), facts_of(run), verdict.why, details, walk_of(run), heading=verdict.sentence)


SECTION = Section("verdict", 0, "Verdict", "What holds this job back", _build, Layout.OPEN)
