"""The throughput of a run whose model is known: tokens, MFU and HFU, cost, each with what it was counted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nsysan.planning.flop import Attention


@dataclass(frozen=True, slots=True)
class UtilisationRow:
    """By one convention of attention. ``mfu`` and ``hfu`` are null where the peak is not known."""

    attention: Attention
    flop_per_token: float
    mfu: float | None
    hfu: float | None
    conventions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a finding's gain is worth: the share of the cost that it saves, and money an hour of the whole job."""

    finding: str
    cause: str
    saved_frac: float
    saved_per_hour: float | None


@dataclass(frozen=True, slots=True)
class ScalingRow:
    """Efficiency against a run on ``smaller_gpu_count`` GPUs: the product of its three factors.

    ``is_of_tokens`` says whether it is of the time of a token; else as much work a GPU is taken for granted.
    ``logged_efficiency`` is the same by the tokens per second and GPU of the training logs, null where they do not
    tell them of both runs; ``logs_tell_of_one_gpu`` where these say that they are of one GPU.
    """

    gpu_count: int
    smaller_gpu_count: int
    efficiency: float
    compute: float
    exposed_communication: float
    waiting: float
    is_of_tokens: bool
    logged_efficiency: float | None = None
    logs_tell_of_one_gpu: bool = False


@dataclass(frozen=True, slots=True)
class ThroughputReport:
    """``unknown`` says of what is null why. ``price`` is of a GPU-hour, in the currency of whoever gave it.

    ``tokens_per_s`` is of the whole job. ``peak_source`` tells whose peak it is; ``dtype`` is the one it is of.
    """

    step_ns: float | None
    world_size: int | None
    tokens_per_step: int | None
    tokens_per_s: float | None
    peak_flop_per_s: float | None
    peak_source: str | None
    dtype: str | None
    utilisation: tuple[UtilisationRow, ...]
    price: float | None
    gpu_hours_per_step: float | None
    cost_per_hour: float | None
    tokens_per_money: float | None
    costs: tuple[CostRow, ...]
    unknown: dict[str, str]
    scaling: ScalingRow | None = None


@dataclass(frozen=True, slots=True)
class Throughput:
    """Throughput and cost."""

    id: ClassVar[str] = "throughput"

    throughput: ThroughputReport
