"""Findings about gaps are doubtful where a log says that the profiler slows the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from nsysan.analysis.training_logs import TrainingLogs
from nsysan.findings.logged_steps import both_times, training_logs
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.results import ResultSet
from nsysan.model.verdicts import Severity

_LENGTHENED = frozenset(
    cause.value
    for cause in (Cause.HOST_SYNC, Cause.SLOW_LAUNCH, Cause.LAUNCH_STARVED, Cause.LAUNCH_LATENCY, Cause.HANDOVER)
)
"""Gaps that each call of the host makes longer, which the profiler slows one by one."""


def with_doubts(findings: Iterable[Finding], results: ResultSet) -> Iterator[Finding]:
    """The findings; those about gaps between calls as information that says why it is doubtful."""
    slowed = next((log for log in training_logs(results) if log.is_perturbed), None)
    for finding in findings:
        if slowed is None or finding.cause not in _LENGTHENED:
            yield finding
        else:
            doubt = Evidence(f"Doubtful, for the profiler lengthens gaps. {both_times(slowed)}", TrainingLogs.id)
            yield msgspec.structs.replace(finding, severity=Severity.INFO, evidence=(doubt, *finding.evidence))
