"""A host that waits for the GPU and cannot launch ahead."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_host_sync(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for a host that synchronised."""
    for loss in losses_to(results, Cause.HOST_SYNC.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for a host that synchronised with it"),
            evidence=gap_evidence(results, Cause.HOST_SYNC),
            confirm="Record with -t cuda,nvtx --cudabacktrace=sync: it names the line that synchronises.",
        )


RULE = Rule("host_sync", find_host_sync)
