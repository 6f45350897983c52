"""A physical GPU, and what each process of each report saw of it."""

from __future__ import annotations

import msgspec

from nsysan.attribution.activities import (
    Activities,
    DeviceRecords,
)
from nsysan.attribution.gpu_identity import GpuIdentity
from nsysan.model.arrays import IdArray
from nsysan.model.trace import process_of
from nsysan.timeline.occupancy import KindArray, Occupancy


class Listed(msgspec.Struct, frozen=True, eq=False):
    """Work one by one, in order, and which of it ran at every moment of the window."""

    activities: Activities
    occupancy: Occupancy


class _Worker:
    """What has work; to ask for it one by one is an error in a job whose work is known as sums only."""

    __slots__ = ()
    listed: Listed | None

    @property
    def activities(self) -> Activities:
        """What it ran."""
        return self._known.activities

    @property
    def occupancy(self) -> Occupancy:
        """Which kinds of work ran when."""
        return self._known.occupancy

    @property
    def _known(self) -> Listed:
        """Raises LookupError where there are sums only: an analysis that needs more must not say ``of_sums``."""
        if self.listed is None:
            raise LookupError("the work of this job is known as sums only")
        return self.listed


class Device(msgspec.Struct, _Worker, frozen=True):
    """A GPU as one process of one report saw it, on that report's clock.

    ``listed`` is null in a job whose work is known as sums only.
    """

    id: str
    gpu_id: str
    report: int
    work: DeviceRecords
    listed: Listed | None

    @property
    def global_pid(self) -> int:
        """The serialized id of the process."""
        return self.work.global_pid

    @property
    def device_id(self) -> int:
        """The process' CUDA ordinal."""
        return self.work.device_id

    def rows_of(self, table: str) -> IdArray:
        """Where its activities stand in one of the trace's tables of GPU work."""
        rows: IdArray = self.activities.row[self.activities.are_of(table)]
        return rows

    def kinds_of(self, table: str) -> KindArray:
        """The ``Activity`` of each of ``rows_of`` that table."""
        kinds: KindArray = self.activities.kind[self.activities.are_of(table)]
        return kinds

    @property
    def pid(self) -> int | None:
        """The process id on its host."""
        return process_of(self.global_pid)


class Gpu(msgspec.Struct, _Worker, frozen=True):
    """A physical GPU or MIG instance with the work of all its devices, on the clock of its first device's report."""

    id: str
    identity: GpuIdentity
    devices: tuple[Device, ...]
    listed: Listed | None

    @property
    def window_ns(self) -> tuple[int, int]:
        """Begin and end of the judged stretch."""
        return int(self.occupancy.bounds_ns[0]), int(self.occupancy.bounds_ns[-1])
