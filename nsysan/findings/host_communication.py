"""Ranks that talk over the host while their GPUs wait."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_host_communication(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for communication of the host."""
    for loss in losses_to(results, Cause.HOST_COMMUNICATION.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for communication of the host"),
            evidence=gap_evidence(results, Cause.HOST_COMMUNICATION),
            confirm="Record with -t mpi, and see which rank the call waits for.",
        )


RULE = Rule("host_communication", find_host_communication)
