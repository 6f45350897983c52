"""Which devices are put together as one GPU, and what a reader must know about that."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from nsysan.attribution.activities import DeviceActivities, DeviceRecords
from nsysan.attribution.clocks import Clock
from nsysan.attribution.gpu_identity import GpuIdentity
from nsysan.model.run import Note
from nsysan.model.trace import process_of
from nsysan.model.units import counted


class FoundDevice(msgspec.Struct, frozen=True):
    """A device, before it is known which GPU it is."""

    report: int
    work: DeviceRecords
    identity: GpuIdentity
    namesakes_before: int = 0
    """How many devices before it have its report, process id and ordinal, in processes of other global pids."""

    @property
    def id(self) -> str:
        """The device's id: report, process, CUDA ordinal; from its second on, a namesake has a number, too."""
        pid = process_of(self.work.global_pid)
        number = f"#{self.namesakes_before + 1}" if self.namesakes_before else ""
        return f"r{self.report}/p{'?' if pid is None else pid}/d{self.work.device_id}{number}"


class ListedDevice(FoundDevice, frozen=True):
    """One whose work is known one by one."""

    work: DeviceActivities


AnyDevice = TypeVar("AnyDevice", bound=FoundDevice)


def told_apart(found: Iterable[AnyDevice]) -> list[AnyDevice]:
    """The devices, each with an id that no other has: pids repeat over hosts and virtual machines."""
    counts: Counter[str] = Counter()
    devices = []
    for device in found:
        devices.append(replace(device, namesakes_before=counts[device.id]))
        counts[device.id] += 1
    return devices


def group_by_gpu(found: Sequence[AnyDevice], clocks: Sequence[Clock]) -> list[list[AnyDevice]]:
    """The devices of each GPU, in order of their first device.

    Devices of one identity are one GPU if they are of one report, or of reports captured at the same time: a GPU seen
    at two different times is judged twice, for nothing is known of it in between.
    """
    groups: list[list[AnyDevice]] = []
    groups_of_key: defaultdict[Hashable, list[list[AnyDevice]]] = defaultdict(list)
    for device in found:
        alike = groups_of_key[device.identity.key] if device.identity.key is not None else []
        home = next((group for group in alike if _at_the_same_time(group[0].report, device.report, clocks)), None)
        if home is None:
            home = []
            groups.append(home)
            alike.append(home)
        home.append(device)
    return groups


def _at_the_same_time(one: int, other: int, clocks: Sequence[Clock]) -> bool:
    return one == other or clocks[one].overlaps(clocks[other])


def matching_notes(groups: Sequence[Sequence[FoundDevice]]) -> Iterator[Note]:
    """What could not be known: devices without identity, one UUID on unknown hosts, one GPU at different times."""
    several_reports = len({device.report for group in groups for device in group}) > 1
    unknown = sum(_may_be_another(group[0].identity, several_reports=several_reports) for group in groups)
    if unknown > 1:
        yield Note(
            "gpus_not_matched",
            f"It is not known which physical GPU each of {counted(unknown, 'device')} is, so each counts as one of its "
            "own; two processes on one GPU would show as two.",
        )
    uuids = [group[0].identity.uuid for group in groups if group[0].identity.uuid is not None]
    repeated = len(uuids) - len(set(uuids))
    if repeated:
        yield Note(
            "gpus_repeated",
            f"{counted(repeated, 'GPU')} counted again: their reports share a UUID, but not a host or not the time of "
            "capture.",
        )


def _may_be_another(identity: GpuIdentity, *, several_reports: bool) -> bool:
    """Whether the GPU may be one that stands beside it: without a UUID it is known inside its own report only."""
    return identity.key is None or (several_reports and identity.uuid is None)
