"""Which steps of a device are steady, what they idled for, and the mean of what they hold."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.devices import Device
from nsysan.attribution.job import Job
from nsysan.attribution.steps.exclusion import exclusions, step_causes_ns
from nsysan.attribution.steps.judged import JudgedSteps
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import Int64Array
from nsysan.timeline.intervals import Intervals


def judge_steps(job: Job, device: Device, steps: DeviceSteps) -> JudgedSteps:
    """The steps of the device with their idle time by cause and why some do not count, worked out once."""
    known = job.judged_steps.get(device.id)
    if known is None or known.steps is not steps:
        known = job.judged_steps[device.id] = _judged(job, device, steps)
    return known


def _judged(job: Job, device: Device, steps: DeviceSteps) -> JudgedSteps:
    idle = job.idle.of_device(device)
    causes_ns = step_causes_ns(steps, None if idle is None else idle.pieces)
    excluded = exclusions(steps, causes_ns, job.idle.threads[device.report].host, device.global_pid)
    return JudgedSteps(steps, None if idle is None else causes_ns, tuple(excluded))


def steady_steps(job: Job, device: Device) -> Intervals | None:
    """The steps that count, each an interval of its own although neighbours touch; None where there is none."""
    steps = job.steps.of_device(device)[1]
    if steps is None:
        return None
    steady = judge_steps(job, device, steps).steady
    return Intervals(steps.bounds_ns[steady], steps.bounds_ns[steady + 1]) if len(steady) else None


def mean_of_steps(times_ns: Int64Array) -> list[int]:
    """The mean of each column over the rows in whole ns, such that they add up to the mean of the sum up to a ns."""
    running = np.cumsum(times_ns.sum(axis=0)) // len(times_ns)
    shares: list[int] = np.diff(np.concatenate([[0], running])).tolist()
    return shares
