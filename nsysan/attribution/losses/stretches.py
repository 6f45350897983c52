"""Which stretches of each device are weighed: its steady steps, or without steps what follows its start-up."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from nsysan.attribution.devices import Device
from nsysan.attribution.job import Job
from nsysan.attribution.steps.start_up import start_up_end_without_steps
from nsysan.attribution.steps.steady import judge_steps
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.losses import Basis


class Stretches(msgspec.Struct, frozen=True, eq=False):
    """Begin and end of each stretch (columns) of each device (rows), each row on the clock of the device's report."""

    basis: Basis
    devices: tuple[Device, ...]
    start_ns: Int64Array
    end_ns: Int64Array

    @property
    def durations_ns(self) -> Int64Array:
        """The length of each stretch."""
        return self.end_ns - self.start_ns


def stretches_of(job: Job) -> Stretches | None:
    """The stretches of a job; None where no device has any.

    Steps are those that are steady on every device that has steps, paired by the names of their markers where these
    tell them apart, else by number. Devices without steps are left out where others have them.
    """
    found = [(device, steps) for device in job.devices if (steps := job.steps.of_device(device)[1]) is not None]
    return _of_steps(job, found) or _of_windows(job)


def _of_steps(job: Job, found: Sequence[tuple[Device, DeviceSteps]]) -> Stretches | None:
    if not found:
        return None
    rows = _paired(job, found)
    kept = np.ones(rows.shape[1], np.bool_)
    for (device, steps), own in zip(found, rows, strict=True):
        kept &= _is_steady(job, device, steps)[own]
    if not kept.any():
        return None
    starts = [steps.bounds_ns[own[kept]] for (_, steps), own in zip(found, rows, strict=True)]
    ends = [steps.bounds_ns[own[kept] + 1] for (_, steps), own in zip(found, rows, strict=True)]
    return Stretches(Basis.STEPS, tuple(device for device, _ in found), np.array(starts), np.array(ends))


def _is_steady(job: Job, device: Device, steps: DeviceSteps) -> BoolArray:
    steady = np.zeros(len(steps), np.bool_)
    steady[judge_steps(job, device, steps).steady] = True
    return steady


def _paired(job: Job, found: Sequence[tuple[Device, DeviceSteps]]) -> Int64Array:
    """The rows of the same steps on each device."""
    names = [
        [job.traces[device.report].text(name) for name in steps.name_id.tolist()] if len(steps.name_id) else []
        for device, steps in found
    ]
    shared = set.intersection(*map(set, names))
    if shared and all(len(set(own)) == len(own) for own in names):
        order = [name for name in names[0] if name in shared]
        places = [{name: place for place, name in enumerate(own)} for own in names]
        return np.array([[of_device[name] for name in order] for of_device in places], np.int64)
    shortest = min(len(steps) for _, steps in found)
    return np.tile(np.arange(shortest), (len(found), 1))


def _of_windows(job: Job) -> Stretches | None:
    """One stretch a device: what the devices' windows share after the start-up of all, each its own where they do not.

    A window that the user chose is taken as it is.
    """
    if not job.devices:
        return None
    shifts = np.array([job.clock_shift_ns(device) for device in job.devices], np.int64)
    windows = [(int(device.occupancy.bounds_ns[0]), int(device.occupancy.bounds_ns[-1])) for device in job.devices]
    begins = [None if job.window_is_chosen else _start_up_end(job, device) for device in job.devices]
    basis = Basis.WINDOW if None in begins else Basis.AFTER_START_UP
    own = np.array(
        [
            (window[0] if begin is None or basis is Basis.WINDOW else begin, window[1])
            for window, begin in zip(windows, begins, strict=True)
        ]
    )
    common = int((own[:, 0] + shifts).max()), int((own[:, 1] + shifts).min())
    if common[0] < common[1]:
        own = np.array([(common[0] - shift, common[1] - shift) for shift in shifts.tolist()])
    return Stretches(basis, job.devices, own[:, :1], own[:, 1:])


def _start_up_end(job: Job, device: Device) -> int | None:
    end_ns = start_up_end_without_steps(device.activities, job.traces[device.report])
    first_ns, last_ns = int(device.occupancy.bounds_ns[0]), int(device.occupancy.bounds_ns[-1])
    return None if end_ns is None or not first_ns <= end_ns < last_ns else end_ns
