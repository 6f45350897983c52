"""Findings that win nothing: they question or explain what was recorded, and are of no class and no cause."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.model.findings import Evidence, Finding
from nsysan.model.verdicts import Severity


def notice(rule: str, severity: Severity, title: str, evidence: Iterable[Evidence], advice: str) -> Finding:
    """The finding of a rule, of no class."""
    return Finding(
        id=rule,
        bottleneck_class=None,
        cause=None,
        severity=severity,
        title=title,
        recoverable_ns=None,
        evidence=tuple(evidence),
        advice=(advice,),
    )
