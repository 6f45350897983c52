"""The mean steady step as figures to compare: it, its parts, and the causes of its idle time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nsysan.analysis.gpu_time import figures_of_parts
from nsysan.analysis.idle_causes import idle_name
from nsysan.analysis.steps_of_device import StepsOfDevice
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.idle import Cause
from nsysan.model.partition import Part, PartTimes

_STEP = Topic("step", "The steady steps, mean over devices")
_PARTS = Topic("step_parts", "The mean steady step by part, mean over devices")
_CAUSES = Topic("step_idle_causes", "Idle time of the mean steady step by cause, mean over devices")
_FEWEST_FOR_ERROR = 2


def step_figures(devices: Sequence[StepsOfDevice]) -> Iterator[Figure]:
    """Means over the devices that have a steady step; no figure where none has.

    The parts add up to the mean step, and the causes to its idle part where all these devices have causes.
    """
    steady = [device for device in devices if device.time is not None]
    if not steady:
        return
    mean_ns = sum(device.mean_ns or 0.0 for device in steady) / len(steady)
    median_ns = sum(device.median_ns or 0.0 for device in steady) / len(steady)
    mean = Figure(_STEP, "mean", "step", mean_ns, Unit.NS, Better.LESS, None, _standard_error_ns(steady))
    yield mean
    yield Figure(_STEP, "median", "median step", median_ns, Unit.NS, Better.LESS)
    times_ns = {part: sum(_time(device).of(part) for device in steady) / len(steady) for part in Part}
    yield from figures_of_parts(_PARTS, times_ns, Unit.NS, mean)
    explained = [device.idle_causes for device in steady if device.idle_causes is not None]
    if len(explained) == len(steady):
        for cause in Cause:
            time_ns = sum(causes.of(cause) for causes in explained) / len(explained)
            yield Figure(_CAUSES, cause.value, idle_name(cause), time_ns, Unit.NS, Better.LESS, f"{_PARTS.id}.idle")


def _time(device: StepsOfDevice) -> PartTimes:
    return device.time or PartTimes(0, 0, 0, 0, 0, 0, 0)


def _standard_error_ns(devices: Sequence[StepsOfDevice]) -> float | None:
    """That of a device's mean from its listed steps, mean over devices: they wait for each other, so more tell no more.

    None where a device has fewer than two.
    """
    errors_ns = [_standard_error_of_mean_ns(device) for device in devices]
    known_ns = [error_ns for error_ns in errors_ns if error_ns is not None]
    return sum(known_ns) / len(known_ns) if len(known_ns) == len(errors_ns) else None


def _standard_error_of_mean_ns(device: StepsOfDevice) -> float | None:
    steady_ns = np.array([step.duration_ns for step in device.list if step.excluded is None])
    if len(steady_ns) < _FEWEST_FOR_ERROR:
        return None
    return float(steady_ns.std(ddof=1) / np.sqrt(len(steady_ns)))
