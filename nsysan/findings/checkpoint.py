"""Steps that wait for a checkpoint to be saved."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, part_evidence, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.partition import Part
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_checkpoint(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for checkpoints: ranges say so, or much is copied to the host in few steps."""
    for loss in losses_to(results, Cause.CHECKPOINT.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for a checkpoint to be saved"),
            evidence=(*gap_evidence(results, Cause.CHECKPOINT), *part_evidence(results, Part.EXPOSED_COPY)),
            confirm="Compare with steps that save nothing: does the log tell of a checkpoint in the long ones?",
        )


RULE = Rule("checkpoint", find_checkpoint)
