"""The six baseline figures, or why one is unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class BaselineFigures:
    """The six figures; ``unknown`` says of each null one why it is null, by its key."""

    tokens_per_s: float | None
    compute_busy_frac: float | None
    mfu: float | None
    communication_wait_frac: float | None
    data_wait_ns_per_step: float | None
    peak_memory_bytes: int | None
    unknown: dict[str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The six baseline figures of the job."""

    id: ClassVar[str] = "baseline"

    baseline: BaselineFigures
