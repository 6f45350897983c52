"""The training steps of every device of a job, worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cached_property

from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.steps.markers import Markers, found_markers, lone_marker, named_markers
from nsysan.attribution.steps.tiles import DeviceSteps, heuristic_steps, marked_steps
from nsysan.model.errors import UsageError
from nsysan.model.text import display_text


class StepSource(str, Enum):
    """What tells where steps begin."""

    NVTX = "nvtx"
    HEURISTIC = "heuristic"
    NONE = "none"


class JobSteps:
    """The steps of each device. ``marker`` is what the user gave, None to find markers."""

    def __init__(self, hosts: Sequence[Host], marker: str | None) -> None:
        self._hosts = tuple(hosts)
        self._marker = marker
        self._found: dict[str, tuple[StepSource, DeviceSteps | None]] = {}

    @cached_property
    def markers(self) -> dict[tuple[int, int], Markers]:
        """The markers by report and global pid. Raises UsageError where the user's marker names no two ranges."""
        found = {
            (report, process): markers
            for report, host in enumerate(self._hosts)
            for process, markers in (
                found_markers(host) if self._marker is None else named_markers(host, self._marker)
            ).items()
        }
        if self._marker is not None and not found:
            raise UsageError(
                f"Fewer than two whole ranges match the marker {display_text(self._marker)!r}.",
                "Give the text of a range that each step has, or an expression; nsysan info REPORT lists ranges.",
            )
        return found

    @property
    def lone_marker(self) -> str | None:
        """A range that would mark steps if there were a second one of its name, as it is shown; None without one."""
        found = (lone_marker(host) for host in self._hosts)
        return next((display_text(text) for text in found if text is not None), None)

    def of_device(self, device: Device) -> tuple[StepSource, DeviceSteps | None]:
        """What tells the device's steps, and the closed ones that lie in its window; none are None."""
        if device.id not in self._found:
            source, steps = self._steps_of(device)
            bounds_ns = device.occupancy.bounds_ns
            inside = None if steps is None else steps.inside(int(bounds_ns[0]), int(bounds_ns[-1]))
            self._found[device.id] = (StepSource.NONE if inside is None else source, inside)
        return self._found[device.id]

    def _steps_of(self, device: Device) -> tuple[StepSource, DeviceSteps | None]:
        host, markers = self._hosts[device.report], self.markers.get((device.report, device.global_pid))
        # without calls nothing tells what was launched in a marker
        if markers is not None and (len(host.calls) or self._marker is not None):
            return StepSource.NVTX, marked_steps(device.activities, host, markers)
        return StepSource.HEURISTIC, heuristic_steps(device.activities, host.trace)
