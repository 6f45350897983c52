"""Processes that were not recorded and ran on the same GPU."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.gpu_contexts import GpuContext
from nsysan.analysis.host import HostView
from nsysan.findings.losing import losses_of
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import CONTEXT_FRAC
from nsysan.model.units import counted, format_duration
from nsysan.model.verdicts import BottleneckClass, Severity


def find_foreign_process(results: ResultSet) -> Iterable[Finding]:
    """A warning where contexts of other processes held a GPU for 2 % of a step or more in all."""
    host, report = results.get(HostView), losses_of(results)
    if isinstance(host, Skipped) or report is None:
        return
    foreign = [one for one in host.host.gpu_contexts if one.is_recorded is False]
    total_ns = sum(one.resident_ns for one in foreign)
    if not foreign or total_ns < CONTEXT_FRAC * report.stretch_ns * report.stretch_count:
        return
    processes = counted(len({one.pid for one in foreign}), "process")
    yield Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.SCHEDULING,
        cause=None,
        severity=Severity.WARNING,
        title=f"{processes} that this trace does not show held a GPU for {format_duration(total_ns)}",
        recoverable_ns=None,
        evidence=tuple(Evidence(_sentence(one), HostView.id) for one in foreign[:3]),
        advice=("Run the job alone on its GPUs, or record every process on them with -t cuda of the whole system.",),
    )


RULE = Rule("foreign_process", find_foreign_process)


def _sentence(one: GpuContext) -> str:
    process = "a process" if one.pid is None else f"process {one.pid}"
    gpu = one.gpu or f"GPU {one.machine_gpu_id}"
    return f"{process} on {gpu}: {counted(one.turn_count, 'turn')}, {format_duration(one.resident_ns)}."
