"""A launching thread that the operating system holds up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.idle_gaps import IdleGaps
from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted

_WAITS = (Cause.HOST_SYNC, Cause.BLOCKING_COPY)


def find_os_blocked(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for a thread that is off its core or in a call of the operating system."""
    for loss in losses_to(results, Cause.OS_BLOCKED.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the operating system holds the launching thread up"),
            evidence=(*gap_evidence(results, Cause.OS_BLOCKED), *_after_waits(results)),
            confirm="Record with --cpuctxsw=process-tree -t osrt, and look at the calls in the longest gap.",
        )


RULE = Rule("os_blocked", find_os_blocked)


def _after_waits(results: ResultSet) -> Iterator[Evidence]:
    """In how many of the listed gaps the thread had waited for the GPU before: with work queued they would not be."""
    found = results.get(IdleGaps)
    gaps = [] if isinstance(found, Skipped) else [gap.causes or {} for gap in found.gaps]
    held = [causes for causes in gaps if causes.get(f"{Cause.OS_BLOCKED.value}_ns")]
    waited = [causes for causes in held if any(causes.get(f"{one.value}_ns") for one in _WAITS)]
    if waited:
        yield Evidence(
            f"In {len(waited)} of the {counted(len(held), 'largest gap')} with such time the thread had just waited "
            "for the GPU, which left nothing queued: without that wait the GPU would have gone on meanwhile.",
            IdleGaps.id,
        )
