"""CUDA graphs that are instantiated again and again: a graph pays for its making only if it is launched often."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.graph_builds import GraphBuilds, GraphBuildsOfDevice
from nsysan.analysis.steps import Steps
from nsysan.findings.advice import advise
from nsysan.findings.losing import gap_evidence, losses_to
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import FEWEST_REBUILDING_STEPS, MATERIAL_FRAC
from nsysan.model.units import counted, format_count, format_duration
from nsysan.model.verdicts import BottleneckClass, Severity


def find_graph_rebuilds(results: ResultSet) -> Iterable[Finding]:
    """A finding where over half of a device's steps instantiate graphs; a warning from 2 % of its step on."""
    builds = results.get(GraphBuilds)
    if isinstance(builds, Skipped):
        return
    rebuilding = [row for row in builds.graph_builds if _is_rebuilding(row)]
    if not rebuilding:
        return
    worst = max(rebuilding, key=lambda row: row.instantiate_ns)
    steps = f"{format_count(worst.instantiating_step_count)} of {counted(worst.step_count, 'step')}"
    where = "every step" if worst.instantiating_step_count == worst.step_count else steps
    took = format_duration(worst.instantiate_ns)
    made = (
        f"{counted(worst.instantiate_count, 'call')} in {steps}, and {counted(worst.launch_count, 'launch')} of a graph"
    )
    yield Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.SCHEDULING,
        cause=Cause.GRAPH_BUILD.value,
        severity=_severity(worst, results),
        title=f"CUDA graphs are instantiated again in {where}, which takes the host {took}",
        recoverable_ns=_recoverable_ns(results),
        evidence=(
            Evidence(f"{worst.device}: {made}.", GraphBuilds.id),
            *_others(len(rebuilding) - 1),
            *gap_evidence(results, Cause.GRAPH_BUILD),
        ),
        advice=advise(Cause.GRAPH_BUILD.value, BottleneckClass.SCHEDULING, results),
    )


RULE = Rule("graph_rebuilds", find_graph_rebuilds)


def _is_rebuilding(row: GraphBuildsOfDevice) -> bool:
    return row.step_count >= FEWEST_REBUILDING_STEPS and 2 * row.instantiating_step_count > row.step_count


def _recoverable_ns(results: ResultSet) -> int | None:
    """What the GPUs lose by it, None where that is too little to say."""
    return next((loss.recoverable_ns for loss in losses_to(results, Cause.GRAPH_BUILD.value)), None)


def _others(count: int) -> tuple[Evidence, ...]:
    devices = f"{counted(count, 'other device')} {'does' if count == 1 else 'do'} so as well."
    return (Evidence(devices, GraphBuilds.id),) if count else ()


def _severity(row: GraphBuildsOfDevice, results: ResultSet) -> Severity:
    """By the share of the device's steps that the calls take, whether the GPU waited for them or not."""
    steps = results.get(Steps)
    tables = () if isinstance(steps, Skipped) else steps.steps.devices
    mean_ns = next((device.mean_ns for device in tables if device.id == row.device), None)
    taken_ns = row.instantiate_ns / row.step_count
    return Severity.WARNING if mean_ns is None or taken_ns >= MATERIAL_FRAC * mean_ns else Severity.INFO
