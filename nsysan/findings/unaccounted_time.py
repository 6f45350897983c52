"""Time that passes from step to step outside the timer of steps."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.training_logs import TrainingLogs, TrainingLogSummary
from nsysan.findings.logged_steps import training_logs
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet
from nsysan.model.thresholds import UNACCOUNTED_FRAC
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import Severity

_RECORD_HOST = (
    "Record what the host does between steps: nsys profile -t cuda,nvtx,osrt, with an NVTX range that holds whole "
    "steps. Garbage collection, evaluation, checkpoints and logging stand outside most timers."
)


def find_unaccounted_time(results: ResultSet) -> Iterable[Finding]:
    """A finding for each log whose lines are further apart than its timer accounts for."""
    for log in training_logs(results):
        if log.cadence_ns and log.unaccounted_ns and log.unaccounted_ns >= UNACCOUNTED_FRAC * log.cadence_ns:
            yield _finding(log, log.cadence_ns, log.unaccounted_ns)


RULE = Rule("unaccounted_time", find_unaccounted_time)


def _finding(log: TrainingLogSummary, cadence_ns: float, unaccounted_ns: float) -> Finding:
    assert log.timer_ns is not None, "what it leaves is known"
    share = format_fraction(unaccounted_ns / cadence_ns)
    return notice(
        RULE.id,
        Severity.WARNING,
        f"{format_duration(unaccounted_ns)} a step pass outside the timer of steps, {share} of the time",
        (
            Evidence(
                f"By {log.name} a step is written every {format_duration(cadence_ns)}, and its timer accounts for "
                f"{format_duration(log.timer_ns)} of that, both means over the same steps.",
                TrainingLogs.id,
            ),
        ),
        _RECORD_HOST,
    )
