"""Why each GPU and device of a job was idle, worked out once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsysan.attribution.activities import Activities
from nsysan.attribution.clocks import Clock
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.idle.gaps import CalledGaps, called_gaps
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.pieces import IdleTime, attribute_idle
from nsysan.model.distinct import distinct
from nsysan.timeline.intervals import Intervals


class JobIdle:
    """The idle time of GPUs and devices by cause, kept once it is asked for; None where no calls were recorded."""

    def __init__(self, threads: Sequence[HostThreads], clocks: Sequence[Clock]) -> None:
        self.threads = tuple(threads)
        self._clocks = tuple(clocks)
        self._found: dict[str, IdleTime] = {}

    def of_gpu(self, gpu: Gpu) -> IdleTime | None:
        """The idle time of the GPU's window, on the GPU's clock."""
        if len(gpu.devices) == 1:
            return self.of_device(gpu.devices[0])
        if not any(len(self.threads[device.report].host.calls) for device in gpu.devices):
            return None
        if gpu.id not in self._found:
            first = gpu.devices[0].report
            self._found[gpu.id] = self._attribute(gpu.activities, gpu.occupancy.idle(), first)
        return self._found[gpu.id]

    def of_device(self, device: Device) -> IdleTime | None:
        """The idle time of the device's window, on its report's clock."""
        if not len(self.threads[device.report].host.calls):
            return None
        if device.id not in self._found:
            gaps = device.occupancy.idle()
            self._found[device.id] = self._attribute(device.activities, gaps, device.report)
        return self._found[device.id]

    def calls_ending(self, gpu: Gpu, gaps: Intervals) -> CalledGaps:
        """Which call ended each of these gaps of the GPU."""
        hosts = {report: self.threads[report].host for report in distinct(gpu.activities.report).tolist()}
        return called_gaps(gpu.activities, gaps, hosts, self._shifts_ns(hosts, gpu.devices[0].report))

    def _attribute(self, activities: Activities, gaps: Intervals, clock_of: int) -> IdleTime:
        reports = distinct(activities.report).tolist()
        threads = {report: self.threads[report] for report in reports}
        found = attribute_idle(activities, gaps, threads, self._shifts_ns(reports, clock_of))
        for report in reports:
            self.threads[report].forget()
        return found

    def _shifts_ns(self, reports: Iterable[int], clock_of: int) -> dict[int, int]:
        """What to add to the times of each report to have them on the clock of one of them."""
        return {report: self._clocks[report].shift_to(self._clocks[clock_of]) for report in reports}
