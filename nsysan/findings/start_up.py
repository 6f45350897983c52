"""What happens once, before the steps: it counts for nothing in a long run, and for much in a short capture."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.gpu_time import DeviceTimes, GpuTime
from nsysan.findings.advice import advise
from nsysan.findings.losing import losses_of
from nsysan.findings.registry import Rule
from nsysan.model.awaited import awaited
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.losses import CLASS_OF_CAUSE, Basis
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import MATERIAL_FRAC
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import Severity


def find_start_up(results: ResultSet) -> Iterable[Finding]:
    """Information where the start-up idles for 2 % of a window or more, by the cause that takes most of it."""
    gpu_time, report = results.get(GpuTime), losses_of(results)
    if isinstance(gpu_time, Skipped) or report is None or report.basis is Basis.WINDOW:
        return
    devices = [device for device in gpu_time.devices if device.start_up is not None]
    if not devices:
        return
    worst = max(devices, key=_idle_ns)
    causes = worst.start_up.idle_causes if worst.start_up is not None else None
    if causes is None or not causes.idle_ns or _idle_ns(worst) < MATERIAL_FRAC * worst.time.window_ns:
        return
    cause = max(Cause, key=causes.of)
    took = format_duration(causes.of(cause))
    yield Finding(
        id=RULE.id,
        bottleneck_class=CLASS_OF_CAUSE[cause],
        cause=cause.value,
        severity=Severity.INFO,
        title=f"Starting up, once, costs {took} of waiting for {awaited(cause)}: no part of a steady run",
        recoverable_ns=0,
        evidence=(
            Evidence(
                f"{worst.id} idles {format_duration(causes.idle_ns)} before it is steady, "
                f"{format_fraction(causes.idle_ns / worst.time.window_ns)} of its window; {took} of that "
                f"for {awaited(cause)}.",
                GpuTime.id,
            ),
        ),
        advice=advise(cause.value, CLASS_OF_CAUSE[cause], results),
    )


RULE = Rule("start_up", find_start_up)


def _idle_ns(device: DeviceTimes) -> int:
    return 0 if device.start_up is None else device.start_up.idle_causes.idle_ns
