"""The sums over each GPU and device of a job."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from nsysan.attribution.activities import activity_name
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.duration_groups import GpuDurations
from nsysan.attribution.kernel_durations import KernelNames, kernel_durations
from nsysan.attribution.work_sums import WorkSums, sums_of
from nsysan.model.trace import Trace


class JobSums(Protocol):
    """What is known of a GPU or device as sums over its window."""

    def of_gpu(self, gpu: Gpu) -> WorkSums:
        """The sums over the GPU's window, on its clock."""

    def of_device(self, device: Device) -> WorkSums:
        """The sums over the device's window, on its report's clock."""

    def kernels_of(self, gpu: Gpu) -> Sequence[GpuDurations]:
        """How long the kernels in the GPU's window took, keyed by the place of their name in ``kernel_names``."""

    @property
    def kernel_names(self) -> Sequence[str]:
        """The names of the kernels asked for so far."""


class ListedSums:
    """The sums of work that is known one by one, each worked out when first asked for."""

    def __init__(self, traces: Sequence[Trace], names: KernelNames | None = None) -> None:
        self._name_of = partial(activity_name, tuple(traces))
        self._traces = tuple(traces)
        self._found: dict[str, WorkSums] = {}
        self._names = names or KernelNames()

    def of_gpu(self, gpu: Gpu) -> WorkSums:
        """The sums over the GPU's window, on its clock."""
        if len(gpu.devices) == 1:
            return self.of_device(gpu.devices[0])
        if gpu.id not in self._found:
            self._found[gpu.id] = sums_of(gpu.activities, gpu.occupancy, self._name_of)
        return self._found[gpu.id]

    def of_device(self, device: Device) -> WorkSums:
        """The sums over the device's window, on its report's clock."""
        if device.id not in self._found:
            self._found[device.id] = sums_of(device.activities, device.occupancy, self._name_of)
        return self._found[device.id]

    def kernels_of(self, gpu: Gpu) -> Sequence[GpuDurations]:
        """How long the kernels in the GPU's window took, keyed by the place of their name in ``kernel_names``."""
        return [kernel_durations(self._traces, gpu.activities, gpu.window_ns, self._names)]

    @property
    def kernel_names(self) -> Sequence[str]:
        """The names of the kernels asked for so far."""
        return self._names.all()
