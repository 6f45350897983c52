"""How often something is measured: warmed up until it holds still, then sampled for long enough.

Times are those of the GPU, so that what is decided from them is the same on every host. One batch is a quarter of a
second at most: between batches Ctrl-C is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from nsysan.calibrate.libraries import native
from nsysan.model.units import NS_PER_S

if TYPE_CHECKING:
    from nsysan.calibrate._native import Batch

Take = Callable[["Batch"], list[float]]
"""Measures a batch: nanoseconds of a launch, one value a sample."""

_SAMPLE_NS = 200_000
"""What is shorter is launched several times a sample: events are no finer than half a microsecond."""
_BATCH_NS = 0.25 * NS_PER_S
_MOST_LAUNCHES = 100
_QUEUE_LENGTH = 900
_STEADY_FRAC = 0.01
_STEADY_SAMPLES = 5
_LIMIT_MS = 120_000


class Effort(msgspec.Struct, frozen=True):
    """How much time a measurement may take; the times are seconds of GPU time."""

    warm_up_s: float
    warm_up_most_s: float
    least_s: float
    most_s: float
    least_count: int
    sustained_s: float
    """How long products run before and while their sustained rate is taken."""
    is_quick: bool


FULL = Effort(0.3, 5.0, 1.0, 10.0, 50, 2.0, is_quick=False)
QUICK = Effort(0.05, 0.5, 0.1, 1.0, 10, 0.3, is_quick=True)


def samples_of(take: Take, effort: Effort, *, is_held: bool) -> list[float]:
    """Samples in nanoseconds of a launch, after a warm-up that is not counted."""
    plan = plan_of(take(batch(1, 1, is_held=is_held))[0], is_held=is_held)
    _warm_up(take, plan, effort)
    samples: list[float] = []
    spent_ns = 0.0
    while not _is_enough(samples, spent_ns, effort):
        taken = take(plan.batch())
        samples += taken
        spent_ns += sum(taken) * plan.launches
    return samples


def lasting(take: Take, effort: Effort, *, is_held: bool) -> list[float]:
    """Samples of a load that had lasted ``sustained_s`` when they began, and lasted as long again."""
    plan = plan_of(take(batch(1, 1, is_held=is_held))[0], is_held=is_held)
    _filling(take, plan, effort.sustained_s)
    return _filling(take, plan, effort.sustained_s)


def _filling(take: Take, plan: Plan, stretch_s: float) -> list[float]:
    """The samples that fill a stretch of GPU time."""
    samples: list[float] = []
    spent_ns = 0.0
    while spent_ns < stretch_s * NS_PER_S:
        taken = take(plan.batch())
        samples += taken
        spent_ns += max(sum(taken) * plan.launches, 1.0)
    return samples


class Plan(msgspec.Struct, frozen=True):
    """Batches of so many samples of so many launches."""

    samples: int
    launches: int
    is_held: bool

    def batch(self) -> Batch:
        """One batch."""
        return batch(self.samples, self.launches, is_held=self.is_held)


def plan_of(launch_ns: float, *, is_held: bool) -> Plan:
    """Batches for launches that take so long."""
    each_ns = max(launch_ns, 1.0)
    launches = min(max(ceil(_SAMPLE_NS / each_ns), 1), _MOST_LAUNCHES)
    fitting = int(_BATCH_NS / (each_ns * launches))
    return Plan(min(max(fitting, 1), _QUEUE_LENGTH // (launches + 2)), launches, is_held)


def batch(samples: int, launches: int, *, is_held: bool) -> Batch:
    """A batch of the compiled module."""
    made: Batch = native().Batch(samples=samples, launches=launches, is_held=is_held, limit_ms=_LIMIT_MS)
    return made


def _warm_up(take: Take, plan: Plan, effort: Effort) -> None:
    last: list[float] = []
    spent_ns = 0.0
    while spent_ns < effort.warm_up_most_s * NS_PER_S:
        taken = take(plan.batch())
        spent_ns += max(sum(taken) * plan.launches, 1.0)
        last = [*last, *taken][-_STEADY_SAMPLES:]
        if spent_ns >= effort.warm_up_s * NS_PER_S and _is_steady(last):
            return


def _is_steady(last: list[float]) -> bool:
    middle = median(last)
    return len(last) == _STEADY_SAMPLES and all(abs(sample - middle) <= _STEADY_FRAC * middle for sample in last)


def _is_enough(samples: list[float], spent_ns: float, effort: Effort) -> bool:
    if spent_ns >= effort.most_s * NS_PER_S:
        return True
    return len(samples) >= effort.least_count and spent_ns >= effort.least_s * NS_PER_S
