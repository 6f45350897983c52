"""A host that launches too late: nothing is queued when the GPU has finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.launches import Launches
from nsysan.findings.advice.situation import Situation
from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.periodic_pauses import periodic_pauses
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import format_duration, format_fraction


def find_launch_bound(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for launches: in many short gaps, or while the host is busy with something else.

    None where the pauses have a period that names what makes them.
    """
    if periodic_pauses(results) is not None:
        return
    many = Situation(results).idles_in_short_gaps
    title = "the host launches kernels too slowly" if many else "the host launches nothing for long"
    for loss in losses_to(results, Cause.LAUNCH_STARVED.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}{title}"),
            evidence=(
                *_launches(results, loss.worst_device),
                *gap_evidence(results, Cause.LAUNCH_STARVED, Cause.LAUNCH_LATENCY),
            ),
            confirm="Record with --sample=process-tree: what does the launching thread run between launches?",
            confidence=Confidence.HIGH if many else Confidence.MEDIUM,
        )


RULE = Rule("launch_bound", find_launch_bound)


def _launches(results: ResultSet, device: str) -> Iterator[Evidence]:
    """How often nothing was queued on the device, and how long a launch took to begin."""
    found = results.get(Launches)
    rows = () if isinstance(found, Skipped) else found.launches
    row = next((row for row in rows if row.device == device), None)
    if row is None or row.empty_queue_frac is None or row.launch_latency_ns is None:
        return
    yield Evidence(
        f"Nothing was queued at {format_fraction(row.empty_queue_frac)} of {device}'s launches; the median launch took "
        f"{format_duration(row.launch_latency_ns)} to begin.",
        Launches.id,
    )
