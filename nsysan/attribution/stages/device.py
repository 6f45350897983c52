"""The stages of one device's steps, from its work and its host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsysan.attribution.stages.ranges import ProcessRanges
from nsysan.attribution.stages.tiles import device_stages, host_bounds_ns, host_stages, step_host_ns, step_stages_ns
from nsysan.attribution.stages.work import OrderedWork, ordered_work
from nsysan.attribution.stages.work_stages import stages_of_work
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.distinct import coded
from nsysan.model.tables import ABSENT, Int64Array

if TYPE_CHECKING:
    from nsysan.attribution.job import Device, Job


@dataclass(frozen=True, slots=True, eq=False)
class StepStages:
    """The time of each step by stage: of the device by label and part, of the host by stage code, none the last.

    ``host_ns`` is None where no call launched the first kernels of steps.
    """

    device_ns: Int64Array
    host_ns: Int64Array | None


def stages_of_device(job: Job, device: Device, steps: DeviceSteps) -> StepStages:
    """The stages of these steps of the device."""
    threads = job.idle.threads[device.report]
    work = ordered_work(device.activities, threads.host)
    bounds_ns = host_bounds_ns(steps, device.activities, work)
    markers = job.steps.markers.get((device.report, device.global_pid))
    ranges = ProcessRanges(threads.host, device.global_pid, None if markers is None else markers.name)
    launch_bounds_ns = steps.bounds_ns if bounds_ns is None else bounds_ns
    step = np.searchsorted(launch_bounds_ns, work.launched_ns, side="right")
    main_tid = _main_thread(work, launch_bounds_ns)
    found = stages_of_work(work, ranges, main_tid, step)
    idle = job.idle.of_device(device)
    stages = device_stages(device.activities, work, found, None if idle is None else idle.pieces)
    host_ns = None
    if bounds_ns is not None:
        host_ns = step_host_ns(bounds_ns, host_stages(work, found, threads.host, ranges, main_tid))
    return StepStages(step_stages_ns(steps, stages, device.occupancy), host_ns)


def _main_thread(work: OrderedWork, bounds_ns: Int64Array) -> int:
    """The thread that launches the first work of most steps; ``ABSENT`` where no call is known."""
    places = np.searchsorted(work.launched_ns, bounds_ns).clip(max=max(len(work) - 1, 0))
    threads, of_step = coded(work.global_tid[places])
    return int(threads[np.bincount(of_step).argmax()]) if len(threads) else ABSENT
