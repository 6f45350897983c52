"""Which stage the work of each device of a job belongs to."""

from __future__ import annotations

from nsysan.attribution.devices import Device
from nsysan.attribution.idle.job_idle import JobIdle
from nsysan.attribution.stages.device import StagedWork
from nsysan.attribution.stages.work_stages import WorkStages
from nsysan.attribution.steps.job_steps import JobSteps


class JobStages:
    """The stages of work. Of each device only these are kept: all that tells them takes many times the memory."""

    def __init__(self, idle: JobIdle, steps: JobSteps) -> None:
        self._idle = idle
        self._steps = steps
        self._found: dict[str, WorkStages] = {}

    def staged_work(self, device: Device) -> StagedWork | None:
        """The device's work in order of launch, with its stages; None without steps."""
        _, steps = self._steps.of_device(device)
        if steps is None:
            return None
        markers = self._steps.markers.get((device.report, device.global_pid))
        known = self._found.get(device.id)
        staged = StagedWork.of(device, self._idle.threads[device.report].host, steps, markers, known)
        if known is None:
            self._found[device.id] = staged.found
        return staged

    def of_activities(self, device: Device) -> WorkStages | None:
        """The stage of each of the device's activities; None without steps."""
        if device.id not in self._found:
            self.staged_work(device)
        return self._found.get(device.id)
