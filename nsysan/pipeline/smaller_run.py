"""A run of the same job on fewer GPUs, against which this one's efficiency is told."""

from __future__ import annotations

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.step_losses import StepLosses
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.model.errors import UsageError
from nsysan.model.losses import EXPOSED_COLLECTIVE, PIPELINE_BUBBLE, Basis
from nsysan.model.results import ResultSet, Skipped
from nsysan.planning.scaling import LoggedRate, StepParts, logged_efficiency, scaling
from nsysan.planning.throughput import ScalingRow, Throughput

_HINT = "Give a run.json of the same job with training steps, on fewer GPUs."


def step_parts(results: ResultSet) -> StepParts:
    """The mean step of a run in its parts, mean over devices. Raises UsageError where it has no steady steps."""
    losses = results.get(StepLosses)
    if isinstance(losses, Skipped) or losses.step_losses.basis is not Basis.STEPS:
        raise UsageError("Scaling needs training steps in both runs.", _HINT)
    report, throughput = losses.step_losses, results.get(Throughput)
    transfer_ns = sum(loss.lost_ns for loss in report.causes if loss.cause == EXPOSED_COLLECTIVE)
    bubble_ns = sum(loss.lost_ns for loss in report.causes if loss.cause == PIPELINE_BUBBLE)
    wait_ns = report.waiting_ns + bubble_ns
    tokens = None if isinstance(throughput, Skipped) else throughput.throughput.tokens_per_step
    return StepParts(
        gpu_count=_gpu_count(results, report.device_count),
        own_ns=report.stretch_ns - wait_ns - transfer_ns,
        transfer_ns=transfer_ns,
        wait_ns=wait_ns,
        tokens=tokens,
        logged=_logged(results),
    )


def scaling_row(smaller: StepParts, results: ResultSet) -> ScalingRow:
    """The efficiency of these results against the smaller run. Raises UsageError where it is not smaller."""
    own = step_parts(results)
    if smaller.gpu_count >= own.gpu_count:
        raise UsageError(f"The run to scale from has {smaller.gpu_count} GPUs, this one {own.gpu_count}.", _HINT)
    found = scaling(smaller, own)
    return ScalingRow(
        gpu_count=own.gpu_count,
        smaller_gpu_count=smaller.gpu_count,
        efficiency=found.efficiency,
        compute=found.compute,
        exposed_communication=found.exposed_communication,
        waiting=found.waiting,
        is_of_tokens=smaller.tokens is not None and own.tokens is not None,
        logged_efficiency=logged_efficiency(smaller, own),
        logs_tell_of_one_gpu=own.logged is not None and own.logged.is_of_one_gpu,
    )


def _logged(results: ResultSet) -> LoggedRate | None:
    """What the first training log that tells tokens per second says, of one GPU where it says that."""
    found = results.get(TrainingLogs)
    for log in () if isinstance(found, Skipped) else found.training_logs:
        if log.tokens_per_gpu_per_s is not None:
            return LoggedRate(log.tokens_per_gpu_per_s, is_of_one_gpu=True)
        if log.tokens_per_s is not None:
            return LoggedRate(log.tokens_per_s, is_of_one_gpu=False)
    return None


def _gpu_count(results: ResultSet, device_count: int) -> int:
    collectives = results.get(Collectives)
    known = None if isinstance(collectives, Skipped) else collectives.world_size
    return known or device_count
