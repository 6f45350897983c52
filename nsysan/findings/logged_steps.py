"""What rules about training logs share."""

from __future__ import annotations

from nsysan.analysis.training_logs import TrainingLogs, TrainingLogSummary
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import format_duration


def training_logs(results: ResultSet) -> tuple[TrainingLogSummary, ...]:
    """The training logs that were given."""
    found = results.get(TrainingLogs)
    return () if isinstance(found, Skipped) else found.training_logs


def both_times(log: TrainingLogSummary) -> str:
    """How long a step takes by the log and in the trace, as a sentence."""
    assert log.step_ns is not None, "it tells of steps"
    assert log.trace_step_ns is not None, "the trace does too"
    times = f"{format_duration(log.step_ns)} by {log.name} and {format_duration(log.trace_step_ns)} in the trace"
    return f"A step takes {times}, {log.slowdown:.2f} times as long."
