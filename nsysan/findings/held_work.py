"""Launched work that something holds back while the GPU is idle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median_high

from nsysan.analysis.idle_gaps import Gap, IdleGaps
from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, EvidencePlace, Finding, PlaceKind
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import EQUAL_TURNS_FRAC, FEWEST_TURNS
from nsysan.model.units import format_duration


def find_held_work(results: ResultSet) -> Iterable[Finding]:
    """A finding where launched work does not start on an idle GPU."""
    for loss in losses_to(results, Cause.DEVICE_WAIT.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}launched work is held back while the GPU idles"),
            evidence=(*gap_evidence(results, Cause.DEVICE_WAIT), *_turns(results)),
            confirm="Record with --cuda-event-trace=true: which stream or event does the work wait for?",
        )


RULE = Rule("held_work", find_held_work)


def _turns(results: ResultSet) -> Iterator[Evidence]:
    """The GPU with most gaps that are equally long: work that is held by queues and events is held ever differently."""
    found = results.get(IdleGaps)
    held: dict[str, list[Gap]] = {}
    for gap in () if isinstance(found, Skipped) else found.gaps:
        if 2 * (gap.causes or {}).get(f"{Cause.DEVICE_WAIT.value}_ns", 0) > gap.duration_ns:
            held.setdefault(gap.gpu, []).append(gap)
    gaps = max((_equally_long(gaps) for gaps in held.values()), key=len, default=())
    if len(gaps) >= FEWEST_TURNS:
        first = min(gaps, key=lambda gap: gap.start_ns)
        yield Evidence(
            f"{len(gaps)} such gaps on {first.gpu} are equally long, {format_duration(_middle_ns(gaps))}, as where "
            "another process gets the GPU in turns: does one share it?",
            IdleGaps.id,
            EvidencePlace(PlaceKind.GAP, first.gpu, first.start_ns, first.end_ns),
        )


def _equally_long(gaps: Sequence[Gap]) -> Sequence[Gap]:
    middle_ns = _middle_ns(gaps)
    return [gap for gap in gaps if abs(gap.duration_ns - middle_ns) <= EQUAL_TURNS_FRAC * middle_ns]


def _middle_ns(gaps: Sequence[Gap]) -> int:
    return median_high(gap.duration_ns for gap in gaps)
