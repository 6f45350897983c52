"""What takes part in communication: a GPU as one process of one report saw it, which is one rank of the job."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsysan.attribution.matching import ListedDevice
from nsysan.model.arrays import Int64Array
from nsysan.model.partition import Activity


class Member(msgspec.Struct, frozen=True):
    """A device with work; ``kernel_rows`` are its sound communication kernels, as rows of its trace's kernels.

    ``communicates`` says whether there are any, also where no row is known.
    """

    id: str
    report: int
    global_pid: int
    device_id: int
    kernel_rows: Int64Array
    communicates: bool


def members_of(found: Sequence[ListedDevice]) -> tuple[Member, ...]:
    """The members in order of report, process and device, as ``found`` has them."""
    return tuple(_member(device) for device in found)


def _member(device: ListedDevice) -> Member:
    activities = device.work.activities
    communicates = activities.kind == int(Activity.COMMUNICATION)
    rows: Int64Array = activities.row[communicates & activities.are_of("kernels")]
    return Member(device.id, device.report, device.work.global_pid, device.work.device_id, rows, bool(len(rows)))
