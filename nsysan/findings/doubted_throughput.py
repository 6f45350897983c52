"""Tokens per second of a log that do not scale as the traces' steps do, against the smaller run."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import LOG_AGREES_FRAC
from nsysan.model.units import format_fraction
from nsysan.model.verdicts import Severity
from nsysan.planning.throughput import ScalingRow, Throughput

_OF_THE_JOB = "Take them as figures of the whole job, or see in the program by what it divides them."
_SAME_WORK = (
    "Make sure that logs and traces are of the same jobs, with as much work a GPU and step; say it with --model."
)


def find_doubted_throughput(results: ResultSet) -> Iterable[Finding]:
    """A finding where logs and traces tell of another efficiency against the smaller run."""
    found = results.get(Throughput)
    row = None if isinstance(found, Skipped) else found.throughput.scaling
    if row is None or row.logged_efficiency is None or _agree(row.logged_efficiency, row.efficiency):
        return
    times = row.gpu_count / row.smaller_gpu_count
    if row.logs_tell_of_one_gpu and _agree(row.logged_efficiency, row.efficiency * times):
        yield _finding(
            f'Tokens per second "of one GPU" that grow {times:g} times with {times:g} times the GPUs are those of all',
            row,
            _OF_THE_JOB,
        )
    else:
        logged, traced = format_fraction(row.logged_efficiency), format_fraction(row.efficiency)
        yield _finding(f"Logs and traces disagree on efficiency: {logged} and {traced}", row, _SAME_WORK)


RULE = Rule("doubted_throughput", find_doubted_throughput)


def _agree(one: float, other: float) -> bool:
    return abs(one / other - 1) <= LOG_AGREES_FRAC


def _finding(title: str, row: ScalingRow, advice: str) -> Finding:
    assert row.logged_efficiency is not None, "logs tell it"
    of = "of one GPU" if row.logs_tell_of_one_gpu else "of the job, divided by its GPUs"
    return notice(
        RULE.id,
        Severity.WARNING,
        title,
        (
            Evidence(
                f"From {row.smaller_gpu_count} to {row.gpu_count} GPUs tokens per second by the logs, {of}, become "
                f"{row.logged_efficiency:.2f} times as many, by the traces' steps {row.efficiency:.2f} times a GPU.",
                Throughput.id,
            ),
        ),
        advice,
    )
