"""Pauses in which the host collects garbage, as ranges say or as the period of the pauses suggests."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from nsysan.analysis.step_losses import Loss
from nsysan.analysis.steps import Steps
from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.periodic_pauses import PeriodicPauses, periodic_pauses
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet
from nsysan.model.units import counted, format_duration


def find_garbage_collection(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for garbage collection, and one where unnamed pauses have its period."""
    for loss in losses_to(results, Cause.GARBAGE_COLLECTION.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for garbage collection"),
            evidence=gap_evidence(results, Cause.GARBAGE_COLLECTION),
            confirm="Run some steps with gc.disable(): do the pauses go?",
        )
    pauses = periodic_pauses(results)
    if pauses is not None:
        for loss in losses_to(results, Cause.LAUNCH_STARVED.value):
            yield _of_pauses(loss, results, pauses)


RULE = Rule("garbage_collection", find_garbage_collection)


def _of_pauses(loss: Loss, results: ResultSet, pauses: PeriodicPauses) -> Finding:
    """Late launches by another name, so that their advice is that of the cause they look like."""
    every = counted(pauses.period_steps, "step")
    told = (
        f"{counted(pauses.count, 'pause')} of {format_duration(pauses.duration_ns)} at the median, one every {every}, "
        f"on {counted(pauses.device_count, 'device')}; the other ranks launch meanwhile."
    )
    return finding_of(
        msgspec.structs.replace(loss, cause=Cause.GARBAGE_COLLECTION.value),
        results,
        rule=RULE.id,
        title=capitalized(f"{whose(loss)}the host pauses every {every}, as garbage collection does"),
        evidence=(Evidence(told, Steps.id), *gap_evidence(results, Cause.LAUNCH_STARVED)),
        confirm="Run some steps with gc.disable(): do the pauses go? A range from gc.callbacks would name them.",
        confidence=Confidence.MEDIUM,
    )
