"""The walk through the five classes in its order, each with its share and state, as page and text show it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from nsysan.analysis.step_losses import LossReport, StepLosses
from nsysan.model.findings import ClassVerdict
from nsysan.model.losses import Basis
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.thresholds import MATERIAL_FRAC
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import BottleneckClass, ClassState
from nsysan.report.prose import Phrase, Sentence, capitalized, ended

CLASS_FILLS: Mapping[BottleneckClass, str] = {
    BottleneckClass.COMPUTE: "compute_only",
    BottleneckClass.COMMUNICATION: "exposed_communication",
    BottleneckClass.DATA: "data",
    BottleneckClass.MEMORY: "memory",
    BottleneckClass.SCHEDULING: "scheduling",
}
_WORDS = {ClassState.OK: "ok", ClassState.PROBLEM: "problem", ClassState.UNKNOWN: "not known"}
_NOTHING = "No cause costs enough to be named."


class WalkStop(msgspec.Struct, frozen=True):
    """A class on the way: ``share`` of a step, what was found there, and the finding that says more."""

    name: str
    fill: str
    state: str
    word: str
    share: str | None
    sentence: str
    target: str | None


def walk_of(run: Run) -> tuple[WalkStop, ...]:
    """The classes in their order; none where no step and no window could be judged."""
    if isinstance(run.results.get(StepLosses), Skipped):
        return ()
    return tuple(_stop(run, one, verdict) for one, verdict in run.diagnosis.classes.items())


def walk_line(run: Run) -> str | None:
    """The same as one sentence; None where there is no walk."""
    stops = walk_of(run)
    told = ", ".join(f"{stop.name.lower()} {stop.share or ''} {stop.word}".replace("  ", " ") for stop in stops)
    return f"Walk: {told}." if stops else None


def walk_details(run: Run) -> tuple[Sentence, ...]:
    """What the headline leaves out: whether the GPUs work, waits for other ranks, and what is next by size."""
    losses = run.results.get(StepLosses)
    if isinstance(losses, Skipped) or run.diagnosis.headline is None:
        return ()
    begin = run.diagnosis.begin
    found = ((Phrase(begin),) if begin is not None else None, _waits(losses.step_losses), next_by_size(run))
    return tuple(sentence for sentence in found if sentence is not None)


def _stop(run: Run, one: BottleneckClass, verdict: ClassVerdict) -> WalkStop:
    number = next((place for place, found in enumerate(run.findings, start=1) if found.bottleneck_class is one), None)
    return WalkStop(
        name=capitalized(one.value),
        fill=CLASS_FILLS[one],
        state=verdict.state.value,
        word=_WORDS[verdict.state],
        share=_share(run, verdict),
        sentence=_NOTHING if verdict.sentence is None else ended(verdict.sentence),
        target=None if number is None else f"finding-{number}",
    )


def _share(run: Run, verdict: ClassVerdict) -> str | None:
    """What a class costs; both ends where some of it may be waiting."""
    losses = run.results.get(StepLosses)
    if verdict.frac is None or isinstance(losses, Skipped):
        return None
    more = verdict.frac + verdict.more_ns / losses.step_losses.stretch_ns
    share = format_fraction(verdict.frac)
    if format_fraction(more) == share:
        return share
    return f"{share.removesuffix(' %')} to {format_fraction(more)}"


def _waits(report: LossReport) -> Sentence | None:
    frac = report.waiting_ns / report.stretch_ns
    if frac < MATERIAL_FRAC:
        return None
    figure = Phrase(f"{format_duration(report.waiting_ns)} ({format_fraction(frac)})", "collectives")
    span = " a step" if report.basis is Basis.STEPS else ""
    return (
        Phrase("Exposed waiting for other ranks takes "),
        figure,
        Phrase(f"{span}, charged to what they did."),
    )


def next_by_size(run: Run) -> Sentence | None:
    """The other classes that cost enough, largest first, and what the walk meets first."""
    headline = run.diagnosis.headline
    others = {
        one: frac
        for one, verdict in run.diagnosis.classes.items()
        if headline is not None
        and one is not headline.bottleneck_class
        and (frac := _weight(run, verdict)) >= MATERIAL_FRAC
    }
    ordered = sorted(others, key=lambda one: -others[one])
    told = ", then ".join(f"{one.value} with {format_fraction(others[one])}" for one in ordered)
    order = f" {run.diagnosis.order}" if run.diagnosis.order is not None else ""
    if headline is None or not ordered:
        return None
    # the largest class leads only where something of it can be cured
    is_larger = others[ordered[0]] > _weight(run, run.diagnosis.classes[headline.bottleneck_class])
    return (Phrase(f"{'By size' if is_larger else 'Next by size'}: {told}.{order}"),)


def _weight(run: Run, verdict: ClassVerdict) -> float:
    losses = run.results.get(StepLosses)
    more = 0.0 if isinstance(losses, Skipped) else verdict.more_ns / losses.step_losses.stretch_ns
    return (verdict.frac or 0.0) + more
