"""Pages of unified memory that move while the GPU waits."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_unified_memory(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for pages of unified memory."""
    for loss in losses_to(results, Cause.UNIFIED_MEMORY.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for pages of unified memory"),
            evidence=gap_evidence(results, Cause.UNIFIED_MEMORY),
            confirm="Record with --cuda-um-gpu-page-faults=true --cuda-um-cpu-page-faults=true.",
        )


RULE = Rule("unified_memory", find_unified_memory)
