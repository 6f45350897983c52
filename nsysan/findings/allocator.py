"""Memory that is allocated and freed inside the steps."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_allocator(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for calls that allocate or free."""
    for loss in losses_to(results, Cause.ALLOCATOR.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits while memory is allocated and freed"),
            evidence=gap_evidence(results, Cause.ALLOCATOR),
            confirm="Read torch.cuda.memory_stats() before and after some steps: num_alloc_retries, and "
            "segments that come and go.",
        )


RULE = Rule("allocator", find_allocator)
