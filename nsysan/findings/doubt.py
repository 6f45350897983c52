"""Findings about gaps are doubtful where the profiler slows the run, clocks disagree, or work left no record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.launches import Launches
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.findings.hidden_work import why_hidden
from nsysan.findings.logged_steps import both_times, training_logs
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.losses import EXPOSED_COLLECTIVE, EXPOSED_COPY, PIPELINE_BUBBLE
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import DOUBTED_PAIRS_FRAC
from nsysan.model.units import format_count
from nsysan.model.verdicts import Severity

_LENGTHENED = frozenset(
    cause.value
    for cause in (Cause.HOST_SYNC, Cause.SLOW_LAUNCH, Cause.LAUNCH_STARVED, Cause.LAUNCH_LATENCY, Cause.HANDOVER)
)
"""Gaps that each call of the host makes longer, which the profiler slows one by one."""

_HOLES = frozenset({EXPOSED_COLLECTIVE, EXPOSED_COPY, PIPELINE_BUBBLE, *(cause.value for cause in Cause)})
"""Time in which no compute kernel was recorded."""


def with_doubts(findings: Iterable[Finding], results: ResultSet) -> Iterator[Finding]:
    """The findings; those about gaps that may not have been, or not so long, as information that says why."""
    lengthened = tuple(doubt for doubt in (_perturbed(results), _on_two_clocks(results)) if doubt is not None)
    hidden = _hidden(results)
    for finding in findings:
        doubts = (
            *(lengthened if finding.cause in _LENGTHENED else ()),
            *(hidden if finding.cause in _HOLES else ()),
        )
        if doubts:
            yield msgspec.structs.replace(finding, severity=Severity.INFO, evidence=(*doubts, *finding.evidence))
        else:
            yield finding


def _hidden(results: ResultSet) -> tuple[Evidence, ...]:
    why = why_hidden(results)
    return () if why is None else (Evidence(f"Doubtful, for {why}.", GpuTime.id),)


def _perturbed(results: ResultSet) -> Evidence | None:
    slowed = next((log for log in training_logs(results) if log.is_perturbed), None)
    if slowed is None:
        return None
    return Evidence(f"Doubtful, for the profiler lengthens gaps. {both_times(slowed)}", TrainingLogs.id)


def _on_two_clocks(results: ResultSet) -> Evidence | None:
    launches = results.get(Launches)
    devices = () if isinstance(launches, Skipped) else launches.launches
    early = sum(device.impossible_pair_count for device in devices)
    work = sum(device.activity_count for device in devices)
    if early < DOUBTED_PAIRS_FRAC * work or not early:
        return None
    counts = f"{format_count(early)} of {format_count(work)} pieces of GPU work began before their calls"
    return Evidence(f"Doubtful, for the clocks of host and GPU disagree: {counts}.", Launches.id)
