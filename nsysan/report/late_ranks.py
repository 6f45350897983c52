"""Who is waited for, how late it is and why, in words."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.stragglers import Pattern, Straggler, Stragglers
from nsysan.model.awaited import awaited
from nsysan.model.idle import Cause
from nsysan.model.lateness import Lateness
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import format_count, format_duration
from nsysan.report.prose import Phrase, Sentence, capitalized, spelled

MENTIONED_FROM_FRAC = 0.02
"""A straggler is named in a sentence if the waits for it are so much of all collectives' time, over ranks."""
_SHORT = {
    Lateness.CLOCK_THROTTLE: "its clock is slow",
    Lateness.SLOW_COMPUTE: "it computes longer",
    Lateness.MORE_WORK: "it has more to compute",
    Lateness.PIPELINE_POSITION: "that is its place in the pipeline",
}


def stragglers_of(run: Run) -> tuple[Straggler, ...]:
    """The ranks that others waited for, none where that is not known."""
    found = run.results.get(Stragglers)
    return () if isinstance(found, Skipped) else found.stragglers


def straggler_sentence(found: Collectives, stragglers: Sequence[Straggler]) -> str | None:
    """Who is waited for most and why; None where nobody is by much."""
    first = _mentioned(found, stragglers)
    if first is None:
        return None
    if first.instance_count == 1:
        often = "came last to the only collective with a late rank"
    else:
        of = f"the {format_count(first.instance_count)} collectives with a late rank"
        often = f"came last to {format_count(first.late_count)} of {of}"
    waited = f"the others waited {format_duration(first.caused_ns)} for it"
    if first.pattern is Pattern.ROTATING:
        return f"No rank is late persistently: rank {first.rank}, waited for most, {often}; {waited}."
    return f"Rank {first.rank} {often}; {waited}. {capitalized(why_sentence(first.why))}."


def state_late_rank(run: Run) -> Sentence | None:
    """The same in short, for the verdict; None where nobody is late by much or nothing tells why."""
    found = run.results.get(Collectives)
    first = None if isinstance(found, Skipped) else _mentioned(found, stragglers_of(run))
    if first is None or first.why is None or first.pattern is Pattern.ROTATING:
        return None
    waited = Phrase(f"waited {format_duration(first.caused_ns)} for rank {first.rank}", "collectives")
    because = _SHORT.get(first.why.cause) or f"it waits longer for {awaited(Cause(first.why.cause))}"
    return (Phrase("In collectives the others "), waited, Phrase(f": {because}."))


def why_sentence(why: WhyLate | None) -> str:
    """Why a rank is late, in words."""
    if why is None:
        return "nothing recorded tells why"
    excess = format_duration(why.excess_ns)
    ratio = "" if why.kernel_ratio is None else f", its kernels take {why.kernel_ratio:.2f} times as long"
    if why.cause is Lateness.CLOCK_THROTTLE:
        return f"slow clock: it computes {excess} longer{ratio}, all by one ratio"
    if why.cause is Lateness.SLOW_COMPUTE:
        return f"slow compute: {excess} longer{ratio}"
    if why.cause is Lateness.MORE_WORK:
        return f"more work: it computes {excess} longer, and has more to do"
    if why.cause is Lateness.PIPELINE_POSITION:
        return "its place in the pipeline: it does what the others in its stage do, and other stages wait for it"
    return f"{spelled(why.cause)}: it idles {excess} longer"


def _mentioned(found: Collectives, stragglers: Sequence[Straggler]) -> Straggler | None:
    """The rank that is waited for most, where that is much of the time that collectives take."""
    total_ns = sum(row.duration_ns for row in found.collectives)
    return stragglers[0] if stragglers and stragglers[0].caused_ns >= MENTIONED_FROM_FRAC * total_ns else None
