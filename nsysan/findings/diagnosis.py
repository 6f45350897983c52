"""The verdict over the five classes. Without training steps there is none: a window may hold start-up."""

from __future__ import annotations

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.findings import ClassVerdict, Diagnosis
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.verdicts import BottleneckClass, ClassState

NO_STEPS = (
    "No verdict is given over this window: this version of nsysan does not divide a trace into training steps yet, "
    "so it may include start-up."
)


def diagnose(results: ResultSet) -> Diagnosis:
    """The diagnosis of these results: every class unknown, and why."""
    gpu_time = results.get(GpuTime)
    why = f"No verdict: {gpu_time.reason}." if isinstance(gpu_time, Skipped) else NO_STEPS
    unknown = ClassVerdict(ClassState.UNKNOWN, None, None)
    return Diagnosis(None, why, dict.fromkeys(BottleneckClass, unknown))
