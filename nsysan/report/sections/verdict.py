"""The verdict: what the run is about, and the sentences to repeat in a meeting."""

from __future__ import annotations

from nsysan.model.run import Run
from nsysan.report.first_fix import first_fix
from nsysan.report.late_ranks import state_late_rank
from nsysan.report.look_next import look_next
from nsysan.report.prose import Sentence
from nsysan.report.section import Layout, Section, View
from nsysan.report.steady_waits import state_wait
from nsysan.report.verdict import Verdict, facts_of, state_verdict, step_fact, subject_of
from nsysan.report.walk import WalkStop, next_by_size, walk_of


class VerdictView(View, frozen=True):
    """The subject of the page with a few facts about it, the verdict, and the walk to it."""

    subject: str
    facts: tuple[str, ...]
    why: str | None
    details: tuple[Sentence, ...]
    walk: tuple[WalkStop, ...] = ()


def _build(run: Run) -> VerdictView:
    verdict = state_verdict(run)
    facts = (*facts_of(run), *filter(None, (step_fact(run),)))
    details = tuple(filter(None, _details(run, verdict)))
    return VerdictView(subject_of(run), facts, verdict.why, details, walk_of(run), heading=verdict.sentence)


def _details(run: Run, verdict: Verdict) -> tuple[Sentence | None, ...]:
    """What to do about the headline and what comes next; without one, what the time tells.

    No time that the headline, the walk or the figures tell is told again over another stretch.
    """
    if run.diagnosis.headline is None:
        return (*verdict.details, state_late_rank(run), state_wait(run), look_next(run))
    return (first_fix(run), look_next(run), state_late_rank(run), next_by_size(run))


SECTION = Section("verdict", 0, "Verdict", "What holds this job back", _build, Layout.OPEN)
