"""What training logs say of the run, and whether they agree with the traces on how long a step takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from nsysan.analysis.log_agreement import Apart, why_apart
from nsysan.analysis.logged_times import LoggedTimes, StepTimeSource, counting, times_in
from nsysan.analysis.registry import Analysis
from nsysan.analysis.steps import Steps
from nsysan.attribution.job import Job
from nsysan.model.figures import Bearing, Condition
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text
from nsysan.model.training_log import LogFormat, LoggedStep, TrainingLog
from nsysan.model.units import NS_PER_S


class TrainingLogSummary(msgspec.Struct, frozen=True):
    """One log. ``line_count`` lines tell of steps, in ``run_count`` runs; ``skipped_count`` iterations updated nothing.

    ``step_ns`` is its median step by ``step_source``; ``cadence_ns`` the mean from line to line, ``timer_ns`` the mean
    of its timer over the same steps, and ``unaccounted_ns`` what lies between them, null within what rounding of times
    explains. ``tokens_per_s`` is of the whole job, as ``tokens_source`` says. ``trace_step_ns`` is the traces' mean
    steady step, ``slowdown`` = trace_step_ns / step_ns, and ``is_perturbed`` where that is 1.1 and above, and neither
    batches nor another unit explain it, nor does another log agree with the trace. ``global_batch`` is in samples, null
    where nothing tells it.
    """

    name: str
    format: LogFormat
    line_count: int
    first_step: int
    last_step: int
    run_count: int
    is_resumed: bool
    repeated_count: int
    omitted_count: int
    skipped_count: int
    step_ns: float | None
    step_source: StepTimeSource | None
    cadence_ns: float | None
    timer_ns: float | None
    unaccounted_ns: float | None
    tokens_per_s: float | None
    tokens_source: str | None
    tokens_per_gpu_per_s: float | None
    samples_per_s: float | None
    world_size: int | None
    trace_step_ns: float | None
    slowdown: float | None
    is_perturbed: bool
    global_batch: float | None = None


class TrainingLogs(msgspec.Struct, frozen=True):
    """The training logs that were given, none where none was."""

    id: ClassVar[str] = "training_logs"

    training_logs: tuple[TrainingLogSummary, ...]

    def not_given(self) -> str | None:
        """What the figures are read of; None where it was given."""
        return None if self.training_logs else "log of training"

    def conditions(self) -> Iterator[Condition]:
        """The batch, where a log tells it."""
        batches = sorted({log.global_batch for log in self.training_logs if log.global_batch is not None})
        if batches:
            told = ", ".join(f"{batch:g}" for batch in batches)
            yield Condition("global_batch", "global batch", told, Bearing.FORBIDS, is_beside=True)


def compute_training_logs(job: Job, results: ResultSet) -> TrainingLogs:
    """A summary of each training log among the evidence, held against the traces' steps."""
    steps = results.get(Steps)
    trace_step_ns = None if isinstance(steps, Skipped) else steps.steps.mean_ns
    logs = tuple(_summary(log, trace_step_ns) for log in job.evidence.of(TrainingLog))
    return TrainingLogs(tuple(replace(log, is_perturbed=apart(log, logs) is Apart.SLOWED) for log in logs))


ANALYSIS = Analysis(TrainingLogs, compute_training_logs, needs=(Steps,))


def apart(log: TrainingLogSummary, logs: Sequence[TrainingLogSummary]) -> Apart | None:
    """Why a log may differ from the traces on the step, beside all ``logs``; None where it does not, or none tell."""
    return why_apart(log.format, log.slowdown, [other.slowdown for other in logs])


def _summary(log: TrainingLog, trace_step_ns: float | None) -> TrainingLogSummary:
    times = times_in(log)
    slowdown = None if trace_step_ns is None or times.step_ns is None else trace_step_ns / times.step_ns
    counted_lines = counting(log.steps) or log.steps
    per_gpu = _typical(counted_lines, lambda step: step.tokens_per_gpu_per_s) or _unless_resumed(
        log, log.settings.tokens_per_gpu_per_s
    )
    tokens_per_s, tokens_source = _tokens_per_s(log, counted_lines, times, per_gpu)
    return TrainingLogSummary(
        name=display_text(log.name),
        format=log.format,
        line_count=len(log.steps),
        first_step=log.steps[0].step,
        last_step=log.steps[-1].step,
        run_count=log.steps[-1].run + 1,
        is_resumed=log.settings.is_resumed,
        repeated_count=log.repeated_count,
        omitted_count=log.omitted_count,
        skipped_count=sum(step.skipped_count or 0 for step in log.steps),
        step_ns=times.step_ns,
        step_source=times.source,
        cadence_ns=times.cadence_ns,
        timer_ns=times.timer_ns,
        unaccounted_ns=_unaccounted_ns(times),
        tokens_per_s=tokens_per_s,
        tokens_source=tokens_source,
        tokens_per_gpu_per_s=per_gpu,
        samples_per_s=_samples_per_s(log, counted_lines, times),
        world_size=log.settings.world_size,
        trace_step_ns=trace_step_ns,
        slowdown=slowdown,
        is_perturbed=False,
        global_batch=_samples(log, counted_lines),
    )


def _unaccounted_ns(times: LoggedTimes) -> float | None:
    """What passes from step to step outside the timer; a timer may not tell more than passes."""
    if times.cadence_ns is None or times.timer_ns is None or times.tolerance_ns is None:
        return None
    found_ns = times.cadence_ns - times.timer_ns
    return found_ns if found_ns > times.tolerance_ns else None


def _tokens_per_s(
    log: TrainingLog, steps: Sequence[LoggedStep], times: LoggedTimes, per_gpu: float | None
) -> tuple[float | None, str | None]:
    """Tokens per second of the whole job, and how they are told."""
    if (said := _typical(steps, lambda step: step.tokens_per_s)) is not None:
        return said, "as it says"
    if times.step_ns is not None:
        tokens = _typical(steps, lambda step: step.tokens)
        if tokens is not None:
            return tokens * NS_PER_S / times.step_ns, "tokens of a step over its time"
        samples, length = _samples(log, steps), log.settings.sequence_length
        if samples is not None and length is not None:
            return samples * length * NS_PER_S / times.step_ns, "batch times sequence length over the time of a step"
    ranks = log.settings.world_size
    if per_gpu is not None and ranks is not None:
        return per_gpu * ranks, f"those of a GPU times {ranks}, the log's world size"
    return None, None


def _samples_per_s(log: TrainingLog, steps: Sequence[LoggedStep], times: LoggedTimes) -> float | None:
    said = _typical(steps, lambda step: step.samples_per_s) or _unless_resumed(log, log.settings.samples_per_s)
    samples = _samples(log, steps)
    if said is not None or samples is None or times.step_ns is None:
        return said
    return samples * NS_PER_S / times.step_ns


def _samples(log: TrainingLog, steps: Sequence[LoggedStep]) -> float | None:
    return _typical(steps, lambda step: step.samples) or log.settings.samples


def _unless_resumed(log: TrainingLog, rate: float | None) -> float | None:
    """A rate of the whole run: of one that goes on it counts what ran before against the time since."""
    return None if log.settings.is_resumed else rate


def _typical(steps: Sequence[LoggedStep], figure: Callable[[LoggedStep], float | None]) -> float | None:
    told = [value for step in steps if (value := figure(step))]
    return median(told) if told else None
