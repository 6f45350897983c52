"""The throughput of a run whose model is known: tokens, MFU and HFU, cost, each with what it was counted from."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from nsysan.model.purposes import Purpose
from nsysan.planning.flop import Attention


class UtilisationRow(msgspec.Struct, frozen=True):
    """By one convention of attention. ``mfu`` and ``hfu`` are null where the peak is not known.

    ``mfu_of_measured`` and ``hfu_of_measured`` are the same against the fastest product that was measured.
    ``multiplying_flop_per_s`` = FLOP of a step, computed again or not / GPUs / ``multiplying_ns_per_step``: how fast
    the kernels are that multiply, all together, where no shape of theirs is known.
    """

    attention: Attention
    flop_per_token: float
    mfu: float | None
    hfu: float | None
    conventions: tuple[str, ...]
    mfu_of_measured: float | None = None
    hfu_of_measured: float | None = None
    multiplying_flop_per_s: float | None = None


class LayoutRow(msgspec.Struct, frozen=True):
    """A layout of the model over the GPUs of the job: its own, or the one in which ``halved`` has half as many ranks.

    ``sent_bytes_per_step`` a GPU sends and ``held_bytes`` it holds, both by formula; ``transfer_ns_per_step`` is what
    that takes at the rates of ``rate_source``, null where one is not known.
    """

    halved: Purpose | None
    tensor_parallel: int
    pipeline_parallel: int
    expert_parallel: int
    context_parallel: int
    data_parallel: int
    sent_bytes_per_step: int
    transfer_ns_per_step: int | None
    rate_source: str | None
    held_bytes: int


class CostRow(msgspec.Struct, frozen=True):
    """What a finding's gain is worth: the share of the cost that it saves, and money an hour of the whole job."""

    finding: str
    cause: str
    saved_frac: float
    saved_per_hour: float | None


class ScalingRow(msgspec.Struct, frozen=True):
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

    @property
    def lost_frac(self) -> float:
        """The share of GPU-hours that would not be needed at full efficiency: 1 - E, at least 0."""
        return max(1 - self.efficiency, 0.0)

    @property
    def more_time_frac(self) -> float:
        """How much more wall time as much work takes than at full efficiency: 1 / E - 1, at least 0."""
        return max(1 / self.efficiency - 1, 0.0)


GIVEN_PEAK = "given with --peak"
"""The source of a peak that the user told, of whatever type."""


class ThroughputReport(msgspec.Struct, frozen=True):
    """``unknown`` says of what is null why. ``price`` is of a GPU-hour, in the currency of whoever gave it.

    ``tokens_per_s`` is of the whole job. ``peak_source`` tells whose peak it is; ``dtype`` is the one it is of.
    ``measured_flop_per_s`` is what the fastest product of that type was measured to reach. ``layouts`` has the job's
    own first. ``multiplying_ns_per_step`` is the time of GEMM and attention kernels in the mean step, mean over
    devices.
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
    measured_flop_per_s: float | None = None
    measured_source: str | None = None
    layouts: tuple[LayoutRow, ...] = ()
    multiplying_ns_per_step: float | None = None


class Throughput(msgspec.Struct, frozen=True):
    """Throughput and cost."""

    id: ClassVar[str] = "throughput"

    throughput: ThroughputReport
