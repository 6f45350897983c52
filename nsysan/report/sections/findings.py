"""What the rules found: severity, evidence and advice, worst first as the run has them."""

from __future__ import annotations

from collections import Counter

import msgspec

from nsysan.analysis.step_losses import StepLosses
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import Basis, Bound
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration, format_timestamp
from nsysan.model.verdicts import Severity
from nsysan.report.elements import Place, Term
from nsysan.report.guide import guide_page
from nsysan.report.places import gpus_with_lane
from nsysan.report.prose import Phrase, Sentence, capitalized, ended, listed, spelled
from nsysan.report.section import Layout, Section, View
from nsysan.report.terms import TERMS
from nsysan.report.walk import CLASS_FILLS

_SPANS = {Basis.STEPS: "a step", Basis.AFTER_START_UP: "after start-up", Basis.WINDOW: "in all"}
_BOUNDS = {Bound.AT_MOST: "at most", Bound.AT_LEAST: "at least", Bound.EITHER: "about"}


class FindingView(msgspec.Struct, frozen=True):
    """One finding. ``amount`` is what a fix would win, ``bound`` how that errs; None where that cannot be measured.

    ``unit`` is that of the amount with what it is of.
    """

    id: str
    severity: str
    title: str
    amount: str | None
    unit: str | None
    no_amount: str
    class_name: str | None
    class_fill: str | None
    cause: str | None
    evidence: tuple[Sentence, ...]
    advice: tuple[str, ...]
    bound: str | None
    confidence: str | None
    confirm: str | None
    check: str | None
    guide: str


class FindingsView(View, frozen=True):
    """All findings."""

    recoverable: Term
    severity: Term
    findings: tuple[FindingView, ...]


def _build(run: Run) -> FindingsView | None:
    if not run.findings:
        return None
    found = Counter(finding.severity for finding in run.findings)
    counts = [_so_many(found[severity], severity) for severity in reversed(Severity) if severity in found]
    heading = f"{counted(len(run.findings), 'finding')}: {listed(counts)}"
    lanes, of = gpus_with_lane(run), _of_what(run)
    findings = tuple(_finding(number, finding, lanes, of) for number, finding in enumerate(run.findings, start=1))
    return FindingsView(TERMS["recoverable"], TERMS["severity"], findings, heading=heading)


def _so_many(count: int, severity: Severity) -> str:
    """``2 critical``, ``2 warnings``: the others' names are no nouns."""
    if severity is Severity.WARNING:
        return counted(count, severity.value)
    return f"{format_count(count)} {severity.value}"


def _finding(number: int, finding: Finding, lanes: frozenset[str], of: str) -> FindingView:
    found_class = finding.bottleneck_class
    amount, unit = _amount(finding.recoverable_ns)
    return FindingView(
        id=f"finding-{number}",
        severity=finding.severity.value,
        title=f"{number}. {finding.title}",
        amount=amount,
        unit=None if unit is None else f"{unit} {of}",
        no_amount="about the trace" if found_class is None else "gain not measurable",
        class_name=None if found_class is None else capitalized(found_class.value),
        class_fill=None if found_class is None else CLASS_FILLS[found_class],
        cause=None if finding.cause is None else spelled(finding.cause),
        evidence=tuple(_evidence(evidence, lanes) for evidence in finding.evidence),
        advice=finding.advice,
        bound=None if finding.bound is None or amount is None else _BOUNDS[finding.bound],
        confidence=None if finding.confidence is None else f"{finding.confidence.value} confidence",
        confirm=finding.confirm,
        check=finding.check,
        guide=guide_page(finding.id),
    )


def _evidence(evidence: Evidence, lanes: frozenset[str]) -> Sentence:
    """The sentence as it is, for it may begin with a name, and where the timeline shows it, how to get there."""
    place, sentence = evidence.place, Phrase(ended(evidence.sentence))
    if place is None:
        return (sentence,)
    begin = format_timestamp(place.start_ns)
    if place.gpu not in lanes:
        return (sentence, Phrase(f" From {begin} on {place.gpu}."))
    shown = Place(place.kind.value, place.gpu, place.start_ns, place.end_ns)
    return (sentence, Phrase(" "), Phrase(f"{begin} on {place.gpu}", place=shown))


def _of_what(run: Run) -> str:
    """What amounts are of."""
    losses = run.results.get(StepLosses)
    return _SPANS[Basis.STEPS if isinstance(losses, Skipped) else losses.step_losses.basis]


def _amount(recoverable_ns: int | None) -> tuple[str, str] | tuple[None, None]:
    if recoverable_ns is None:
        return None, None
    amount, _, unit = format_duration(recoverable_ns).partition(" ")
    return amount, unit


SECTION = Section("findings", 30, "Findings", "What stands out", _build, Layout.WIDE)
