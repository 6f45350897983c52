"""Why a training log and the traces may tell of steps of different length."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from math import log10

from nsysan.model.thresholds import LOG_AGREES_FRAC, LOG_APART_FACTOR, LOG_UNIT_DECADES, LOG_UNIT_TOLERANCE_DECADES
from nsysan.model.training_log import LogFormat


class Apart(Enum):
    """What a difference says."""

    UNIT = "unit"
    BATCHES = "batches"
    CONTRADICTED = "contradicted"
    """Another log agrees with the traces."""
    SLOWED = "slowed"
    LONGER_LOG = "longer log"


def why_apart(log_format: LogFormat, slowdown: float | None, of_all: Iterable[float | None]) -> Apart | None:
    """The first reason that fits; None where log and traces are less than a tenth apart, or either tells no step.

    ``slowdown`` is the traces' step over the log's, ``of_all`` that of each log given.
    """
    if slowdown is None or 1 / LOG_APART_FACTOR < slowdown < LOG_APART_FACTOR:
        return None
    if _counts_batches(log_format, slowdown):
        return Apart.BATCHES
    if unit_factor(slowdown) is not None:
        return Apart.UNIT
    if any(map(agrees, of_all)):
        return Apart.CONTRADICTED
    return Apart.SLOWED if slowdown > 1 else Apart.LONGER_LOG


def agrees(slowdown: float | None) -> bool:
    """Whether a log and the traces tell the same of a step."""
    return slowdown is not None and abs(slowdown - 1) <= LOG_AGREES_FRAC


def unit_factor(slowdown: float) -> int | None:
    """The power of a thousand that lies between the two steps, as between units of time; None where none does."""
    decades = abs(log10(slowdown)) if slowdown > 0 else 0.0
    powers = round(decades / LOG_UNIT_DECADES)
    near = abs(decades - powers * LOG_UNIT_DECADES) <= LOG_UNIT_TOLERANCE_DECADES
    return 10 ** (powers * LOG_UNIT_DECADES) if powers and near else None


def _counts_batches(log_format: LogFormat, slowdown: float) -> bool:
    """Whether a whole number of the log's steps makes one of the trace, as a bar of batches does that accumulates."""
    whole = round(slowdown)
    is_bar = log_format is LogFormat.PROGRESS_BAR
    return is_bar and whole > 1 and abs(slowdown / whole - 1) <= LOG_AGREES_FRAC
