"""The stages of one device's steps, from its work and its host."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.stages.ranges import ProcessRanges
from nsysan.attribution.stages.tiles import device_stages, host_bounds_ns, launched_stages, step_host_ns, step_stages_ns
from nsysan.attribution.stages.work import LaunchedWork, launched_work, ordered_work
from nsysan.attribution.stages.work_stages import WorkStages, stages_of_work
from nsysan.attribution.steps.markers import Markers
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.tables import ABSENT


class StepStages(msgspec.Struct, frozen=True, eq=False):
    """The time of each step by stage: of the device by label and part, of the host by stage code, none the last.

    ``host_ns`` is None where no call launched the first kernels of steps.
    """

    device_ns: Int64Array
    host_ns: Int64Array | None


class StagedWork(msgspec.Struct, frozen=True, eq=False):
    """All work of a device that has steps, in order of launch, and the stage of each of its activities.

    ``bounds_ns`` is when the first kernel of each step was launched, None where no call launched one; ``main_tid`` the
    thread that runs the steps.
    """

    device: Device
    host: Host
    steps: DeviceSteps
    ranges: ProcessRanges
    work: LaunchedWork
    bounds_ns: Int64Array | None
    main_tid: int
    found: WorkStages

    @classmethod
    def of(
        cls, device: Device, host: Host, steps: DeviceSteps, markers: Markers | None, known: WorkStages | None
    ) -> StagedWork:
        """The work of the device with its stages; ``markers`` are those of its process.

        ``known`` are the stages where they have been found before.
        """
        work = launched_work(device.activities, host)
        bounds_ns = host_bounds_ns(steps, device.activities, host)
        ranges = ProcessRanges(host, device.global_pid, None if markers is None else markers.name)
        launch_bounds_ns = steps.bounds_ns if bounds_ns is None else bounds_ns
        main_tid = _main_thread(work, launch_bounds_ns)
        if known is None:
            step = np.searchsorted(launch_bounds_ns, work.launched_ns, side="right")
            ordered = ordered_work(device.activities, host, work)
            known = stages_of_work(ordered, ranges, main_tid, step).placed(work.activity)
        return cls(device, host, steps, ranges, work, bounds_ns, main_tid, known)

    def step_times(self, idle: IdlePieces | None) -> StepStages:
        """The time of each step by stage; ``idle`` says why the device was idle, None where no call was recorded."""
        host_ns = None
        if self.bounds_ns is not None:
            launches = launched_stages(self.work, self.found, self.host)
            host_ns = step_host_ns(self.bounds_ns, self.ranges.phases(self.main_tid), launches)
        stages = device_stages(self.device.activities, self.found)
        return StepStages(step_stages_ns(self.steps, stages, self.device.occupancy, idle), host_ns)


def _main_thread(work: LaunchedWork, bounds_ns: Int64Array) -> int:
    """The thread that launches the first work of most steps; ``ABSENT`` where no call is known."""
    places = np.searchsorted(work.launched_ns, bounds_ns).clip(max=max(len(work) - 1, 0))
    threads, of_step = coded(work.global_tid[places])
    return int(threads[np.bincount(of_step).argmax()]) if len(threads) else ABSENT
