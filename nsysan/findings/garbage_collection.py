"""Pauses in which the host collects garbage."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_garbage_collection(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for garbage collection."""
    for loss in losses_to(results, Cause.GARBAGE_COLLECTION.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for garbage collection"),
            evidence=gap_evidence(results, Cause.GARBAGE_COLLECTION),
            confirm="Run some steps with gc.disable(): do the pauses go?",
        )


RULE = Rule("garbage_collection", find_garbage_collection)
