"""Steps that wait for a checkpoint to be saved."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_checkpoint(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for checkpoints."""
    for loss in losses_to(results, Cause.CHECKPOINT.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for a checkpoint to be saved"),
            evidence=gap_evidence(results, Cause.CHECKPOINT),
            confirm="Compare with steps that save nothing.",
        )


RULE = Rule("checkpoint", find_checkpoint)
