"""Launch calls that take the driver unusually long."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_slow_launch(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for launch calls over 100 us."""
    for loss in losses_to(results, Cause.SLOW_LAUNCH.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}launch calls take unusually long"),
            evidence=gap_evidence(results, Cause.SLOW_LAUNCH),
            confirm="Record with --cpuctxsw=process-tree -t osrt: is the thread off its core, or waiting for a lock?",
        )


RULE = Rule("slow_launch", find_slow_launch)
