"""The verdict over the five classes. Without training steps there is none: a window may hold start-up."""

from __future__ import annotations

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.findings import ClassVerdict, Diagnosis
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.verdicts import BottleneckClass, ClassState

NO_STEPS = "No verdict is given: this version of nsysan does not divide a trace into training steps yet"


def diagnose(results: ResultSet, *, window_is_chosen: bool) -> Diagnosis:
    """The diagnosis of these results: every class unknown, and why. A window the user chose is taken to be steady."""
    gpu_time = results.get(GpuTime)
    no_steps = f"{NO_STEPS}." if window_is_chosen else f"{NO_STEPS}, so the window may include start-up."
    why = f"No verdict: {gpu_time.reason}." if isinstance(gpu_time, Skipped) else no_steps
    unknown = ClassVerdict(ClassState.UNKNOWN, None, None)
    return Diagnosis(None, why, dict.fromkeys(BottleneckClass, unknown))
