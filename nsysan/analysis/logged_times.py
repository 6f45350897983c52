"""What the lines of a training log say a step takes: by its timer, and by when the lines were written."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from statistics import median

import msgspec

from nsysan.model.thresholds import ENOUGH_CLOCK_COUNT, FINE_CLOCK_COUNT
from nsysan.model.training_log import LogFormat, LoggedStep, TrainingLog


class StepTimeSource(str, Enum):
    """What tells how long a step takes: a timer of the program, or when lines were written."""

    TIMER = "timer"
    CADENCE = "cadence"
    BAR = "bar"


class LoggedTimes(msgspec.Struct, frozen=True):
    """``step_ns`` is a typical step's, the median over the lines that count, by ``source``.

    ``cadence_ns`` is the mean from line to line, and ``timer_ns`` the mean of the timer over the same steps;
    ``tolerance_ns`` is how far off their difference may be by rounding. None where the log does not tell.
    """

    step_ns: float | None = None
    source: StepTimeSource | None = None
    cadence_ns: float | None = None
    timer_ns: float | None = None
    tolerance_ns: float | None = None


class _Interval(msgspec.Struct, frozen=True):
    """From one line to the next of the same run."""

    step_count: int
    wall_ns: int
    step_ns: float | None


def times_in(log: TrainingLog) -> LoggedTimes:
    """How long steps take by the log. Lines with skipped iterations do not count, nor the first of each run."""
    is_bar = log.format is LogFormat.PROGRESS_BAR
    # a bar is first drawn before the first step, and at once goes to where a checkpoint left it
    intervals = _intervals(counting(log.steps) if is_bar else log.steps)
    cadence_ns = _cadence_ns(intervals, log.wall_resolution_ns)
    timers_ns = [step.step_ns for step in counting(log.steps) if step.step_ns is not None]
    if is_bar:
        return _times_of_bar(cadence_ns, timers_ns)
    if not timers_ns:
        step_ns = _typical_ns(intervals, log.wall_resolution_ns) or cadence_ns
        source = None if step_ns is None else StepTimeSource.CADENCE
        return LoggedTimes(step_ns, source, cadence_ns)
    timed = [one for one in intervals if one.step_ns is not None]
    steps = sum(one.step_count for one in timed)
    timed_cadence_ns = _cadence_ns(timed, log.wall_resolution_ns)
    if timed_cadence_ns is None:
        return LoggedTimes(median(timers_ns), StepTimeSource.TIMER, cadence_ns)
    return LoggedTimes(
        step_ns=median(timers_ns),
        source=StepTimeSource.TIMER,
        cadence_ns=timed_cadence_ns,
        timer_ns=sum(one.step_count * (one.step_ns or 0.0) for one in timed) / steps,
        tolerance_ns=log.wall_resolution_ns / steps,
    )


def counting(steps: Sequence[LoggedStep]) -> list[LoggedStep]:
    """The lines that count: of each run those after the first, which holds its start, without skipped iterations."""
    return [step for before, step in pairwise(steps) if step.run == before.run and not step.skipped_count]


def _intervals(steps: Sequence[LoggedStep]) -> list[_Interval]:
    return [
        _Interval(step.step - before.step, step.wall_ns - before.wall_ns, step.step_ns)
        for before, step in pairwise(steps)
        if step.run == before.run
        and not step.skipped_count
        and before.wall_ns is not None
        and step.wall_ns is not None
        and step.wall_ns >= before.wall_ns
    ]


def _cadence_ns(intervals: Sequence[_Interval], resolution_ns: int) -> float | None:
    """The mean step from line to line; None where rounding would tell."""
    wall_ns = sum(one.wall_ns for one in intervals)
    return wall_ns / sum(one.step_count for one in intervals) if wall_ns >= ENOUGH_CLOCK_COUNT * resolution_ns else None


def _typical_ns(intervals: Sequence[_Interval], resolution_ns: int) -> float | None:
    """The median over the lines of a step's time; None where rounding would tell."""
    if not intervals or median(one.wall_ns for one in intervals) < FINE_CLOCK_COUNT * resolution_ns:
        return None
    return median(one.wall_ns / one.step_count for one in intervals)


def _times_of_bar(cadence_ns: float | None, rates_ns: Sequence[float]) -> LoggedTimes:
    """By the bar's own clock, else by the rate that it smooths: neither is a timer of steps alone."""
    if cadence_ns is not None:
        return LoggedTimes(cadence_ns, StepTimeSource.CADENCE, cadence_ns)
    return LoggedTimes(median(rates_ns), StepTimeSource.BAR) if rates_ns else LoggedTimes()
