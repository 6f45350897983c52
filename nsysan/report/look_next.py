"""Where to look next: places in the timeline, that of whatever dominates first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_gaps import Gap, IdleGaps
from nsysan.analysis.kernel_summary import KernelRow, KernelSummary
from nsysan.analysis.timeline import Timeline
from nsysan.attribution.kernel_class import function_name
from nsysan.model.awaited import awaited
from nsysan.model.findings import Finding, Headline
from nsysan.model.idle import Cause
from nsysan.model.partition import Part
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import format_duration, format_fraction, format_timestamp
from nsysan.report.causes import cause_shares
from nsysan.report.columns import cut
from nsysan.report.elements import Place
from nsysan.report.partition import OTHER_PARTS, job_share
from nsysan.report.place_of_loss import place_of_loss
from nsysan.report.places import gpus_with_lane, kernel_places
from nsysan.report.prose import Phrase, Sentence, spelled
from nsysan.report.whereabouts import whereabouts

LITTLE_FRAC = 0.02
"""Where no part without compute takes more of the window, what is worth a look is a kernel."""

SHOWN_CELLS = 60
"""So much of a kernel's name a sentence bears."""

MOST_LEADS = 9
"""Each has a digit for its key."""


class Lead(msgspec.Struct, frozen=True):
    """A place worth a look, and what it is: ``the longest exposed communication``; ``label`` says that shortly."""

    what: str
    label: str
    place: Place

    @property
    def duration_ns(self) -> int:
        """How long it lasts."""
        return self.place.end_ns - self.place.start_ns


def look_next(run: Run, finish: str | None = None) -> Sentence | None:
    """What to look at next, with its place where the timeline shows it; None where there is nothing to lead to.

    Without another ``finish`` it ends in the rank and the step, where they are known.
    """
    first = next(iter(leads(run)), None)
    if first is None:
        return None
    gpu = first.place.gpu
    figure = f"{format_duration(first.duration_ns)} from {format_timestamp(first.place.start_ns)} on {gpu}"
    shown = first.place if gpu in gpus_with_lane(run) else None
    end = f"{whereabouts(run, first.place)}." if finish is None else finish
    return (Phrase(f"Look next at {first.what}: "), Phrase(figure, place=shown), Phrase(end))


def leads(run: Run) -> tuple[Lead, ...]:
    """The places worth a look, each once: those of findings, that of the headline first, and one of each part.

    The part with the largest share of the windows comes first, and where there is no headline before the findings.
    """
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return ()
    shares = {part: job_share(gpu_time, part).mean_frac for part in OTHER_PARTS}
    places = dict(_places_of_parts(run, gpu_time))
    by_share = [places[part] for part in sorted(places, key=lambda part: -shares[part])]
    kernel = _longest_kernel(run)
    of_parts = (*kernel, *by_share) if max(shares.values()) < LITTLE_FRAC else (*by_share, *kernel)
    of_findings = tuple(_of_findings(run))
    in_order = (*of_parts, *of_findings) if run.diagnosis.headline is None else (*of_findings, *of_parts)
    once: dict[tuple[str, int, int], Lead] = {}
    for lead in in_order:
        once.setdefault((lead.place.gpu, lead.place.start_ns, lead.place.end_ns), lead)
    return tuple(once.values())[:MOST_LEADS]


def _of_findings(run: Run) -> Iterator[Lead]:
    """Where the loss of the headline is seen, then the first place of each other finding that has one."""
    headline = run.diagnosis.headline
    numbered = sorted(enumerate(run.findings, start=1), key=lambda entry: not _is_headline(entry[1], headline))
    for number, finding in numbered:
        place = next((evidence.place for evidence in finding.evidence if evidence.place is not None), None)
        if _is_headline(finding, headline):
            seen = place_of_loss(run, finding)
            if seen is not None:
                yield Lead(seen[0], f"Finding {number}", seen[1])
        elif place is not None:
            shown = Place(place.kind.value, place.gpu, place.start_ns, place.end_ns)
            yield Lead(f"finding {number}", f"Finding {number}", shown)


def _is_headline(finding: Finding, headline: Headline | None) -> bool:
    return headline is not None and finding.id == headline.finding


def _places_of_parts(run: Run, gpu_time: GpuTime) -> Iterator[tuple[Part, Lead]]:
    idle_gaps, timeline = run.results.get(IdleGaps), run.results.get(Timeline)
    if not isinstance(idle_gaps, Skipped) and idle_gaps.gaps:
        yield Part.IDLE, _worst_gap(idle_gaps.gaps, cause_shares(gpu_time))
    if not isinstance(timeline, Skipped):
        for found in timeline.timeline.part_places:
            place = Place("part", found.gpu, found.start_ns, found.end_ns)
            name = spelled(found.part)
            yield found.part, Lead(f"the longest {name}", f"Longest {name}", place)


def _worst_gap(gaps: tuple[Gap, ...], shares: Mapping[Cause, float]) -> Lead:
    """Of the gaps listed the one with most of the cause that dominates; the longest where that is unknown."""
    cause = max(shares, key=lambda cause: shares[cause], default=Cause.UNKNOWN)
    gap = max(gaps, key=lambda gap: _time_of(gap, cause))
    if cause is Cause.UNKNOWN or not _time_of(gap, cause):
        return Lead("the longest gap", "Longest gap", _place_of(gaps[0]))
    label = "Longest gap" if gap is gaps[0] else "Longest wait"
    return Lead(f"the gap that waited longest for {awaited(cause)}", label, _place_of(gap))


def _time_of(gap: Gap, cause: Cause) -> int:
    return 0 if gap.causes is None else gap.causes.get(f"{cause.value}_ns", 0)


def _place_of(gap: Gap) -> Place:
    return Place("gap", gap.gpu, gap.start_ns, gap.end_ns)


def _longest_kernel(run: Run) -> tuple[Lead, ...]:
    """The longest run of the kernel that takes most time, where the timeline shows it."""
    summary = run.results.get(KernelSummary)
    if isinstance(summary, Skipped) or not summary.kernels:
        return ()
    most = summary.kernels[0]
    place = kernel_places(run).get(most.name_hash)
    return () if place is None else (Lead(_run_of(most), "Top kernel", place),)


def _run_of(kernel: KernelRow) -> str:
    function = cut(function_name(kernel.name), SHOWN_CELLS)
    share = "" if kernel.work_frac is None else f" ({format_fraction(kernel.work_frac)} of all kernels')"
    return f"the longest run of {function}, the kernel with most time{share}"
