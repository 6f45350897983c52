"""The steady steps of a device as stretches of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nsysan.attribution.steps.exclusion import exclusions, step_causes_ns
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.timeline.intervals import Intervals

if TYPE_CHECKING:
    from nsysan.attribution.job import Device, Job


def steady_steps(job: Job, device: Device) -> Intervals | None:
    """The steps that count, each an interval of its own although neighbours touch; None where there is none."""
    steps = job.steps.of_device(device)[1]
    if steps is None:
        return None
    idle = job.idle.of_device(device)
    causes_ns = step_causes_ns(steps, None if idle is None else idle.pieces)
    steady = _steady_rows(job, device, steps, causes_ns)
    return Intervals(steps.bounds_ns[steady], steps.bounds_ns[steady + 1]) if len(steady) else None


def _steady_rows(job: Job, device: Device, steps: DeviceSteps, causes_ns: np.ndarray) -> np.ndarray:
    excluded = exclusions(steps, causes_ns, job.idle.threads[device.report].host, device.global_pid)
    return np.flatnonzero([why is None for why in excluded])
