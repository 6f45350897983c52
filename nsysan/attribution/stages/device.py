"""The stages of one device's steps, from its work and its host."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.stages.ranges import ProcessRanges
from nsysan.attribution.stages.tiles import device_stages, host_bounds_ns, host_stages, step_host_ns, step_stages_ns
from nsysan.attribution.stages.work import OrderedWork, ordered_work
from nsysan.attribution.stages.work_stages import WorkStages, stages_of_work
from nsysan.attribution.steps.markers import Markers
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.tables import ABSENT
from nsysan.timeline.ordering import order_of


class StepStages(msgspec.Struct, frozen=True, eq=False):
    """The time of each step by stage: of the device by label and part, of the host by stage code, none the last.

    ``host_ns`` is None where no call launched the first kernels of steps.
    """

    device_ns: Int64Array
    host_ns: Int64Array | None


class StagedWork(msgspec.Struct, frozen=True, eq=False):
    """All work of a device that has steps, in order of launch, and the stage of each piece.

    ``bounds_ns`` is when the first kernel of each step was launched, None where no call launched one; ``main_tid`` the
    thread that runs the steps.
    """

    device: Device
    host: Host
    steps: DeviceSteps
    ranges: ProcessRanges
    work: OrderedWork
    bounds_ns: Int64Array | None
    main_tid: int
    found: WorkStages

    @classmethod
    def of(
        cls, device: Device, host: Host, steps: DeviceSteps, markers: Markers | None, known: WorkStages | None
    ) -> StagedWork:
        """The work of the device with its stages; ``markers`` are those of its process.

        ``known`` are the stages in the order of the device's activities where they have been found before.
        """
        work = ordered_work(device.activities, host)
        bounds_ns = host_bounds_ns(steps, device.activities, work)
        ranges = ProcessRanges(host, device.global_pid, None if markers is None else markers.name)
        launch_bounds_ns = steps.bounds_ns if bounds_ns is None else bounds_ns
        main_tid = _main_thread(work, launch_bounds_ns)
        if known is None:
            step = np.searchsorted(launch_bounds_ns, work.launched_ns, side="right")
            found = stages_of_work(work, ranges, main_tid, step)
        else:
            found = known.take(work.activity)
        return cls(device, host, steps, ranges, work, bounds_ns, main_tid, found)

    def by_activity(self) -> WorkStages:
        """The stages in the order of the device's activities."""
        return self.found.take(order_of(self.work.activity))

    def step_times(self, idle: IdlePieces | None) -> StepStages:
        """The time of each step by stage; ``idle`` says why the device was idle, None where no call was recorded."""
        stages = device_stages(self.device.activities, self.work, self.found, idle)
        host_ns = None
        if self.bounds_ns is not None:
            of_host = host_stages(self.work, self.found, self.host, self.ranges, self.main_tid)
            host_ns = step_host_ns(self.bounds_ns, of_host)
        return StepStages(step_stages_ns(self.steps, stages, self.device.occupancy), host_ns)


def _main_thread(work: OrderedWork, bounds_ns: Int64Array) -> int:
    """The thread that launches the first work of most steps; ``ABSENT`` where no call is known."""
    places = np.searchsorted(work.launched_ns, bounds_ns).clip(max=max(len(work) - 1, 0))
    threads, of_step = coded(work.global_tid[places])
    return int(threads[np.bincount(of_step).argmax()]) if len(threads) else ABSENT
