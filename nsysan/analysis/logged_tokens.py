"""Tokens per second of the job, which no trace tells, from the training logs."""

from __future__ import annotations

import msgspec

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.model.results import ResultSet, Skipped


class LoggedTokens(msgspec.Struct, frozen=True):
    """Of the whole job; ``source`` names the log and says how it tells them."""

    tokens_per_s: float
    source: str


def tokens_per_s(results: ResultSet) -> LoggedTokens | str:
    """What the first log that tells them says, or why none does. Logs that disagree are not averaged."""
    found = results.get(TrainingLogs)
    logs = () if isinstance(found, Skipped) else found.training_logs
    for log in logs:
        if log.tokens_per_s is not None:
            return LoggedTokens(log.tokens_per_s, f"{log.name}, {log.tokens_source}")
    world_size = _world_size(results)
    for log in logs:
        if log.tokens_per_gpu_per_s is not None and world_size is not None:
            how = f"those of a GPU times {world_size}, the traces' world size"
            return LoggedTokens(log.tokens_per_gpu_per_s * world_size, f"{log.name}, {how}")
    if any(log.tokens_per_gpu_per_s is not None for log in logs):
        return "the log tells those of one GPU, and nothing how many there are; say it with --world-size"
    return (
        "the training log tells neither them nor batch and sequence length"
        if logs
        else "needs the tokens of a step; give the training log with --evidence"
    )


def _world_size(results: ResultSet) -> int | None:
    found = results.get(Collectives)
    return None if isinstance(found, Skipped) else found.world_size
