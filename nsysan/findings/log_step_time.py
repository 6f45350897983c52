"""Steps that take longer in the trace than in a training log, or shorter: what that says of the trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.log_agreement import Apart, unit_factor
from nsysan.analysis.training_logs import TrainingLogs, TrainingLogSummary, apart
from nsysan.findings.logged_steps import both_times, training_logs
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet
from nsysan.model.units import format_count, format_fraction
from nsysan.model.verdicts import Severity

_RECORD_LESS = (
    "Compare step times without nsys. Where gaps, launches and idle time are in question, record less: a shorter "
    "capture, --cuda-graph-trace=graph, no backtraces and samples."
)
_LONGER = "the log's steps hold more than the trace's, or are of another run"
_CONTRADICTED = "another log agrees with the trace, so the logs contradict each other"
_SAME_RUN = "Make sure that the log and the trace are of the same job, and count the same as a step."
_ONE_RUN = "Find out which log is of the run that was recorded, and leave out the others."
_UNIT = "Look up in which unit the log tells times, and convert it."


_ADVICE = {
    Apart.UNIT: _UNIT,
    Apart.BATCHES: _SAME_RUN,
    Apart.CONTRADICTED: _ONE_RUN,
    Apart.SLOWED: _RECORD_LESS,
    Apart.LONGER_LOG: _SAME_RUN,
}
_BECAUSE = {
    Apart.CONTRADICTED: _CONTRADICTED,
    Apart.SLOWED: "the profiler slows this run",
    Apart.LONGER_LOG: _LONGER,
}
_WARNED = {Apart.SLOWED, Apart.CONTRADICTED}


def find_log_step_time(results: ResultSet) -> Iterable[Finding]:
    """A finding for each log whose step differs from the traces' by a tenth or more."""
    logs = training_logs(results)
    for log in logs:
        if (why := apart(log, logs)) is not None:
            severity = Severity.WARNING if why in _WARNED else Severity.INFO
            yield _finding(log, because(log, why), severity, _ADVICE[why])


RULE = Rule("log_step_time", find_log_step_time)


def because(log: TrainingLogSummary, why: Apart) -> str:
    """What a difference says of the log or the trace, as the end of a sentence."""
    assert log.slowdown is not None, "both tell of steps"
    if why is Apart.UNIT:
        factor = format_count(unit_factor(log.slowdown) or 0)
        return f"about {factor} times, so the log's times may be in another unit"
    if why is Apart.BATCHES:
        return f"it counts batches, and a step may be {round(log.slowdown)} of them"
    return _BECAUSE[why]


def _disagreement(log: TrainingLogSummary) -> float:
    """How far the trace's step is from the log's, as a share of the log's."""
    assert log.slowdown is not None, "both tell of steps"
    return abs(log.slowdown - 1)


def _finding(log: TrainingLogSummary, told: str, severity: Severity, advice: str) -> Finding:
    return notice(
        RULE.id,
        severity,
        f"Log and trace disagree on step time by {format_fraction(_disagreement(log))}: {told}",
        _evidence(log),
        advice,
    )


def _evidence(log: TrainingLogSummary) -> Iterator[Evidence]:
    yield Evidence(both_times(log), TrainingLogs.id)
    if log.is_perturbed:
        sentence = "Findings about gaps are marked as doubtful: the profiler makes them longer."
        yield Evidence(sentence, TrainingLogs.id)
