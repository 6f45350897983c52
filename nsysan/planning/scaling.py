"""Efficiency of a job against a smaller run of it, in factors that multiply."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from nsysan.model.errors import UsageError


class LoggedRate(msgspec.Struct, frozen=True):
    """Tokens per second by a training log: of one GPU, or of the whole job."""

    tokens_per_s: float
    is_of_one_gpu: bool


class StepParts(msgspec.Struct, frozen=True):
    """The mean step of a run: what it computes or idles, exposed transfer, and exposed waiting; they add up to it.

    ``tokens`` are those of a step where known; ``logged`` are tokens per second as the training log has them.
    """

    gpu_count: int
    own_ns: float
    transfer_ns: float
    wait_ns: float
    tokens: float | None
    logged: LoggedRate | None = None

    @property
    def step_ns(self) -> float:
        """The step."""
        return self.own_ns + self.transfer_ns + self.wait_ns


class Scaling(msgspec.Struct, frozen=True):
    """Throughput per GPU against the smaller run's, and what it is the product of."""

    efficiency: float
    compute: float
    exposed_communication: float
    waiting: float


def scaling(small: StepParts, large: StepParts) -> Scaling:
    """E = compute x exposed communication x waiting, each the ratio of the smaller run's time to the larger's.

    Weak scaling, as much work a GPU: E = t_small / t_large. Where the tokens of a step are known times are those of a
    token and GPU, so that strong scaling is the same. Raises UsageError where a step has no work of its own.
    """
    if not small.own_ns or not large.own_ns:
        raise UsageError("A step that computes nothing does not scale.", "Compare runs with training steps.")
    if small.tokens is None or large.tokens is None:
        # of one run alone they say nothing: as much work a GPU is taken for granted
        small, large = replace(small, tokens=None), replace(large, tokens=None)
    a, b = _per_work(small), _per_work(large)
    compute = a.own_ns / b.own_ns
    with_transfer = (a.own_ns + a.transfer_ns) / (b.own_ns + b.transfer_ns)
    whole = a.step_ns / b.step_ns
    return Scaling(whole, compute, with_transfer / compute, whole / with_transfer)


def logged_efficiency(small: StepParts, large: StepParts) -> float | None:
    """Tokens per second and GPU against the smaller run's, by the logs; None where both do not tell alike."""
    a, b = small.logged, large.logged
    if a is None or b is None or a.is_of_one_gpu != b.is_of_one_gpu:
        return None
    per_gpu = 1.0 if a.is_of_one_gpu else small.gpu_count / large.gpu_count
    return b.tokens_per_s / a.tokens_per_s * per_gpu


def _per_work(parts: StepParts) -> StepParts:
    """The times of a token on its GPU; of the step where tokens are not known."""
    work = 1.0 if parts.tokens is None else parts.tokens / parts.gpu_count
    return StepParts(parts.gpu_count, parts.own_ns / work, parts.transfer_ns / work, parts.wait_ns / work, None)
