"""Pauses that single ranks make every so many steps and nothing names: what Python's garbage collector looks like.

A pause that all ranks make in the same step is something that their loop does, such as saving or evaluating.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from nsysan.analysis.steps import Steps, StepsOfDevice
from nsysan.model.idle import Cause
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import (
    FEWEST_PAUSES,
    MOSTLY_FRAC,
    PERIOD_TOLERANCE_FRAC,
    SHORT_GAP_NS,
    SHORTEST_PERIOD_STEPS,
)

_STARVED = f"{Cause.LAUNCH_STARVED.value}_ns"


@dataclass(frozen=True, slots=True)
class PeriodicPauses:
    """``count`` pauses of ``duration_ns`` at the median, every ``period_steps`` steps, on ``device_count`` devices."""

    count: int
    duration_ns: int
    period_steps: int
    device_count: int


def periodic_pauses(results: ResultSet) -> PeriodicPauses | None:
    """The pauses that hold most of the time in which launches come late; None where there is no such period."""
    found = results.get(Steps)
    if isinstance(found, Skipped) or len(found.steps.devices) < 2:  # noqa: PLR2004 -- whether others pause must show
        return None
    by_device = {device.id: _starved_ns(device) for device in found.steps.devices}
    pauses = _pauses(by_device)
    period_steps = _period(sorted(pauses))
    lengths_ns = [length for paused in pauses.values() for length in paused.values()]
    lost_ns = sum(map(sum, by_device.values()))
    if period_steps is None or sum(lengths_ns) < MOSTLY_FRAC * lost_ns:
        return None
    if any(2 * len(paused) > len(by_device) for paused in pauses.values()):
        return None
    devices = {device for paused in pauses.values() for device in paused}
    return PeriodicPauses(len(pauses), round(median(lengths_ns)), period_steps, len(devices))


def _starved_ns(device: StepsOfDevice) -> list[int]:
    """How long each step waited for launches, beyond what its like do."""
    starved = [0 if step.excluded else (step.idle_causes or {}).get(_STARVED, 0) for step in device.list]
    usual_ns = median(starved) if starved else 0
    return [max(round(time - usual_ns), 0) for time in starved]


def _pauses(by_device: Mapping[str, Sequence[int]]) -> dict[int, dict[str, int]]:
    """By number of the step, how long each device paused that did so at least half as long as any ever did."""
    longest_ns = max(map(max, filter(None, by_device.values())), default=0)
    pauses: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for device, lengths in by_device.items():
        for step, length in enumerate(lengths):
            if length >= max(SHORT_GAP_NS, longest_ns / 2):
                pauses[step][device] = length
    return pauses


def _period(steps: Sequence[int]) -> int | None:
    """How many steps lie between pauses, where that is about the same each time; else None."""
    distances = [after - before for before, after in pairwise(steps)]
    if len(steps) < FEWEST_PAUSES:
        return None
    period = median(distances)
    if period < SHORTEST_PERIOD_STEPS or max(distances) - min(distances) > PERIOD_TOLERANCE_FRAC * period:
        return None
    return round(period)
