"""The verdict over the five classes. There is none yet, and it says so."""

from __future__ import annotations

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.findings import ClassVerdict, Diagnosis
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.verdicts import BottleneckClass, ClassState

NO_VERDICT = "No verdict is given: this version of nsysan does not weigh the causes against each other yet"


def diagnose(results: ResultSet, *, window_is_chosen: bool) -> Diagnosis:
    """The diagnosis of these results: every class unknown, and why. A window the user chose is taken to be steady."""
    gpu_time = results.get(GpuTime)
    unweighed = f"{NO_VERDICT}." if window_is_chosen else f"{NO_VERDICT}, and the window may include start-up."
    why = f"No verdict: {gpu_time.reason}." if isinstance(gpu_time, Skipped) else unweighed
    unknown = ClassVerdict(ClassState.UNKNOWN, None, None)
    return Diagnosis(None, why, dict.fromkeys(BottleneckClass, unknown))
