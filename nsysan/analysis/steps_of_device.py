"""What is told of the steps of one device."""

from __future__ import annotations

import msgspec

from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.job_steps import StepSource
from nsysan.model.idle import IdleCauses
from nsysan.model.partition import PartTimes


class Step(msgspec.Struct, frozen=True):
    """One closed step. ``idle_causes`` holds the causes that it has, null where calls were not recorded.

    ``marker`` is null where no range marks it, ``excluded`` where it counts; else that says why it does not.
    """

    marker: str | None
    start_ns: int
    end_ns: int
    duration_ns: int
    time: PartTimes
    idle_causes: dict[str, int] | None
    excluded: Exclusion | None


class StepsOfDevice(msgspec.Struct, frozen=True):
    """The steps of a device. All figures but ``step_count`` are of the ``count`` steady ones, null where there is none.

    ``marker`` is the name that its markers share, null without markers. ``list`` holds the first closed steps; there
    are ``step_count``. ``lead_ns`` is the window before the first, ``open_ns`` what follows the last. ``time`` and
    ``idle_causes`` are the mean step's. ``slow_count`` steps take over 1.2 medians; ``slow_every`` is their distance
    in steps where that is always the same, from three of them on. ``trend_frac`` = median of the last third / median
    of the first third - 1, null for fewer than six steps.
    """

    id: str
    source: StepSource
    marker: str | None
    step_count: int
    count: int
    lead_ns: int
    open_ns: int
    median_ns: float | None
    mean_ns: float | None
    p90_ns: int | None
    max_ns: int | None
    slow_count: int
    slow_every: int | None
    trend_frac: float | None
    time: PartTimes | None
    idle_causes: IdleCauses | None
    list: tuple[Step, ...]
