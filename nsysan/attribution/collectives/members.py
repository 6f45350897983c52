"""What takes part in communication: a GPU as one process of one report saw it, which is one rank of the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsysan.attribution.activities import SOURCES
from nsysan.attribution.matching import FoundDevice
from nsysan.model.partition import Activity
from nsysan.model.tables import Int64Array


@dataclass(frozen=True, slots=True)
class Member:
    """A device with work; ``kernel_rows`` are its sound communication kernels, as rows of its trace's kernels."""

    id: str
    report: int
    global_pid: int
    device_id: int
    kernel_rows: Int64Array


def members_of(found: Sequence[FoundDevice]) -> tuple[Member, ...]:
    """The members in order of report, process and device, as ``found`` has them."""
    return tuple(
        Member(device.id, device.report, device.work.global_pid, device.work.device_id, _kernel_rows(device))
        for device in found
    )


def _kernel_rows(device: FoundDevice) -> Int64Array:
    activities = device.work.activities
    communicates = activities.kind == int(Activity.COMMUNICATION)
    rows: Int64Array = activities.row[communicates & (activities.source == SOURCES.index("kernels"))]
    return rows
