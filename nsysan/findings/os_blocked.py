"""A launching thread that the operating system holds up."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_os_blocked(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for a thread that is off its core or in a call of the operating system."""
    for loss in losses_to(results, Cause.OS_BLOCKED.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the operating system holds the launching thread up"),
            evidence=gap_evidence(results, Cause.OS_BLOCKED),
            confirm="Record with --cpuctxsw=process-tree -t osrt, and look at the calls in the longest gap.",
        )


RULE = Rule("os_blocked", find_os_blocked)
