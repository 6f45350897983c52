"""Steps that take longer in the trace than in a training log, or shorter: what that says of the trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.training_logs import PERTURBED_FROM, TrainingLogs, TrainingLogSummary, counts_batches
from nsysan.findings.logged_steps import both_times, training_logs
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet
from nsysan.model.units import format_fraction
from nsysan.model.verdicts import Severity

_RECORD_LESS = (
    "Compare step times without nsys. Where gaps, launches and idle time are in question, record less: a shorter "
    "capture, --cuda-graph-trace=graph, no backtraces and samples."
)
_LONGER = "the log's steps hold more than the trace's, or are of another run"
_SAME_RUN = "Make sure that the log and the trace are of the same job, and count the same as a step."


def find_log_step_time(results: ResultSet) -> Iterable[Finding]:
    """A finding for each log whose step differs from the traces' by a tenth or more."""
    for log in training_logs(results):
        if log.is_perturbed:
            yield _finding(log, "the profiler slows this run", Severity.WARNING, _RECORD_LESS)
        elif log.slowdown is not None and counts_batches(log.format, log.slowdown):
            batches = f"it counts batches, and a step may be {round(log.slowdown)} of them"
            yield _finding(log, batches, Severity.INFO, _SAME_RUN)
        elif log.slowdown is not None and log.slowdown <= 1 / PERTURBED_FROM:
            yield _finding(log, _LONGER, Severity.INFO, _SAME_RUN)


RULE = Rule("log_step_time", find_log_step_time)


def _disagreement(log: TrainingLogSummary) -> float:
    """How far the trace's step is from the log's, as a share of the log's."""
    assert log.slowdown is not None, "both tell of steps"
    return abs(log.slowdown - 1)


def _finding(log: TrainingLogSummary, because: str, severity: Severity, advice: str) -> Finding:
    return Finding(
        id=RULE.id,
        bottleneck_class=None,
        cause=None,
        severity=severity,
        title=f"Log and trace disagree on step time by {format_fraction(_disagreement(log))}: {because}",
        recoverable_ns=None,
        evidence=tuple(_evidence(log)),
        advice=(advice,),
    )


def _evidence(log: TrainingLogSummary) -> Iterator[Evidence]:
    yield Evidence(both_times(log), TrainingLogs.id)
    if log.is_perturbed:
        sentence = "Findings about gaps are marked as doubtful: the profiler makes them longer."
        yield Evidence(sentence, TrainingLogs.id)
