"""The steady steps of a device: which they are, where they lie, and the mean of what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nsysan.attribution.steps.exclusion import Exclusion, exclusions, step_causes_ns
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.tables import Int64Array
from nsysan.timeline.intervals import Intervals

if TYPE_CHECKING:
    from nsysan.attribution.job import Device, Job


def steady_steps(job: Job, device: Device) -> Intervals | None:
    """The steps that count, each an interval of its own although neighbours touch; None where there is none."""
    steps = job.steps.of_device(device)[1]
    if steps is None:
        return None
    steady = steady_rows(causes_and_exclusions(job, device, steps)[1])
    return Intervals(steps.bounds_ns[steady], steps.bounds_ns[steady + 1]) if len(steady) else None


def causes_and_exclusions(
    job: Job, device: Device, steps: DeviceSteps
) -> tuple[Int64Array | None, list[Exclusion | None]]:
    """The idle time of each step by cause code, None where calls were not recorded, and why each does not count."""
    idle = job.idle.of_device(device)
    causes_ns = step_causes_ns(steps, None if idle is None else idle.pieces)
    excluded = exclusions(steps, causes_ns, job.idle.threads[device.report].host, device.global_pid)
    return None if idle is None else causes_ns, excluded


def steady_rows(excluded: list[Exclusion | None]) -> Int64Array:
    """The numbers of the steps that count."""
    return np.flatnonzero([why is None for why in excluded])


def mean_of_steps(times_ns: Int64Array) -> list[int]:
    """The mean of each column over the rows in whole ns, such that they add up to the mean of the sum up to a ns."""
    running = np.cumsum(times_ns.sum(axis=0)) // len(times_ns)
    shares: list[int] = np.diff(np.concatenate([[0], running])).tolist()
    return shares
