"""Pauses that single ranks make every so many steps and nothing names: what Python's garbage collector looks like.

A pause that all ranks make in the same step is something that their loop does, such as saving or evaluating.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

import msgspec

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_gaps import IdleGaps
from nsysan.analysis.steps import Steps
from nsysan.analysis.steps_of_device import StepsOfDevice
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


class PeriodicPauses(msgspec.Struct, frozen=True):
    """``count`` pauses of ``duration_ns`` at the median, every ``period_steps`` steps, on ``device_count`` devices."""

    count: int
    duration_ns: int
    period_steps: int
    device_count: int


def periodic_pauses(results: ResultSet) -> PeriodicPauses | None:
    """The pauses that hold most of the time in which launches come late; None where there is no such period.

    Where the closed steps hold too few pauses to tell, those after the last of them count as well.
    """
    found = results.get(Steps)
    if isinstance(found, Skipped) or len(found.steps.devices) < 2:  # noqa: PLR2004 -- whether others pause must show
        return None
    closed = {device.id: _starved_ns(device) for device in found.steps.devices}
    opened = {device.id: [*closed[device.id], *_starved_after_ns(device, results)] for device in found.steps.devices}
    usual_ns = {device.id: _usual_ns(device) for device in found.steps.devices}
    return _periodic(_beyond(closed, usual_ns)) or _periodic(_beyond(opened, usual_ns))


def _periodic(by_device: Mapping[str, Sequence[int]]) -> PeriodicPauses | None:
    """The pauses among these waits, by device and step, where single devices make most of them periodically."""
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
    """How long each closed step waited for launches; of an excluded one nothing is said."""
    return [0 if step.excluded else (step.idle_causes or {}).get(_STARVED, 0) for step in device.list]


def _usual_ns(device: StepsOfDevice) -> int:
    """What every step waits for launches: the least of any, for a rank that often pauses does so in most steps."""
    counted = [step for step in device.list if not step.excluded]
    return min(((step.idle_causes or {}).get(_STARVED, 0) for step in counted), default=0)


def _starved_after_ns(device: StepsOfDevice, results: ResultSet) -> Iterator[int]:
    """How long launches were waited for in the step that no next one closes, by the largest gaps; nothing unlisted."""
    gaps, gpu_time = results.get(IdleGaps), results.get(GpuTime)
    if isinstance(gaps, Skipped) or isinstance(gpu_time, Skipped) or len(device.list) < device.step_count:
        return
    end_ns = max((step.end_ns for step in device.list), default=0)
    own = {one.gpu for one in gpu_time.devices if one.id == device.id}
    late = [gap for gap in gaps.gaps if gap.gpu in own and gap.start_ns >= end_ns]
    yield sum((gap.causes or {}).get(_STARVED, 0) for gap in late)


def _beyond(by_device: Mapping[str, Sequence[int]], usual_ns: Mapping[str, int]) -> dict[str, list[int]]:
    """What each wait of a device takes beyond its usual one."""
    return {one: [max(time - usual_ns[one], 0) for time in times] for one, times in by_device.items()}


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
