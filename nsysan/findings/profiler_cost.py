"""Time that only the profiler took."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.step_losses import StepLosses
from nsysan.findings.losing import losses_of, losses_to, share_of
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.results import ResultSet
from nsysan.model.thresholds import MATERIAL_FRAC
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import Severity


def find_profiler_cost(results: ResultSet) -> Iterable[Finding]:
    """Where the GPUs wait for the profiler: information, a warning from 2 % on, for figures are off by as much."""
    report = losses_of(results)
    for loss in losses_to(results, Cause.PROFILER_OVERHEAD.value):
        frac = share_of(loss, report)
        yield notice(
            RULE.id,
            Severity.WARNING if frac >= MATERIAL_FRAC else Severity.INFO,
            f"The profiler itself costs {format_fraction(frac)}: the job is faster without it",
            (Evidence(f"{format_duration(loss.lost_ns)} on average a device.", StepLosses.id),),
            "Record less (shorter, without --cudabacktrace and samples), and compare step times without nsys.",
        )


RULE = Rule("profiler_cost", find_profiler_cost)
