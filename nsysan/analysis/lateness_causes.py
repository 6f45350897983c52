"""Why a rank is late: what it does more than the median of the ranks that wait for it, on their common window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
import numpy as np

from nsysan.analysis.kernel_speeds import KernelSpeeds
from nsysan.attribution.collectives.kinds import KINDS, SEND_RECV
from nsysan.attribution.collectives.pipelines import stage_of_members
from nsysan.attribution.devices import Device
from nsysan.attribution.idle.pieces import causes_of
from nsysan.attribution.job import Job
from nsysan.model.idle import Cause
from nsysan.model.kernels import Collective
from nsysan.model.lateness import Lateness
from nsysan.model.partition import COMPUTING_PARTS, Part
from nsysan.model.tables import ABSENT
from nsysan.model.thresholds import LATE_EXPLAINED_FRAC, MORE_WORK_FACTOR, MOSTLY_FRAC, SLOWER_FACTOR
from nsysan.timeline.coverage import coverage

_COMPUTING = [place for place, part in enumerate(Part) if part in COMPUTING_PARTS]


class WhyLate(msgspec.Struct, frozen=True):
    """What tells why a rank is late.

    ``excess_ns`` is what the rank spent with it more than the median of the others, of a pipeline the others in its
    stage; by its position in the pipeline it is late by as much as it is late. ``kernel_ratio``, where it computes
    longer, is how much longer its kernels take than the same of the others, at the median of their time: of the same
    grid and block where these are told, but by name where it has more work; null where too few are shared.
    """

    cause: Lateness
    excess_ns: float
    kernel_ratio: float | None


class _Spent(msgspec.Struct, frozen=True):
    """What a rank did in the common window, in ns."""

    computing_ns: int
    idle_ns: dict[Cause, int]


class LatenessCauses:
    """Compares ranks of one job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._spent: dict[int, _Spent] = {}
        self._speeds = KernelSpeeds(job)

    def of(self, member: int, others: Sequence[int], late_ns: int) -> WhyLate | None:
        """Why the member is late, all in all by ``late_ns``; None where nothing of it differs enough.

        Stages of a pipeline have different work, so that a rank is held against those of its own. Where nothing of it
        differs from these, ranks of other stages wait for it because of where it stands.
        """
        stages = self._stages
        waits_across = any(stages.get(other) != stages.get(member) for other in others)
        found = self._against(member, self._alike(member, others), late_ns)
        if found is None and waits_across and self._device(member) is not None:
            return WhyLate(Lateness.PIPELINE_POSITION, float(late_ns), None)
        return found

    def _alike(self, member: int, others: Sequence[int]) -> list[int]:
        """Those of the others in the member's stage; where there is none, all of the job in that stage."""
        stages = self._stages
        own = [other for other in others if stages.get(other) == stages.get(member)]
        return own or [other for other in stages if other != member and stages[other] == stages.get(member)]

    @cached_property
    def _stages(self) -> dict[int, int]:
        return stage_of_members(self._job.collectives.pipelines)

    def _against(self, member: int, others: Sequence[int], late_ns: int) -> WhyLate | None:
        """Why the member is later than these by so much; None where nothing of it differs enough."""
        others = [other for other in others if self._device(other) is not None]
        if self._device(member) is None or not others:
            return None
        own, theirs = self._of(member), [self._of(other) for other in others]
        excess_ns = {
            cause.value: own.idle_ns.get(cause, 0) - float(np.median([one.idle_ns.get(cause, 0) for one in theirs]))
            for cause in Cause
        }
        computing_ns = own.computing_ns - float(np.median([one.computing_ns for one in theirs]))
        most = max(excess_ns, key=lambda cause: excess_ns[cause])
        if max(computing_ns, excess_ns[most]) < LATE_EXPLAINED_FRAC * late_ns:
            return None
        if excess_ns[most] > computing_ns:
            return WhyLate(Lateness(most), excess_ns[most], None)
        return self._computing_longer(member, others, computing_ns)

    def _computing_longer(self, member: int, others: Sequence[int], computing_ns: float) -> WhyLate | None:
        """Why the member computes longer by so much: it has more to do, or is slower at the same."""
        device, others_devices = self._known_device(member), [self._known_device(other) for other in others]
        named = self._speeds.by_name(device, others_devices)
        equal = self._speeds.of_equal_work(device, others_devices)
        ratio = None if named is None else named.ratio
        own_work, *their_work = self._work([member, *others])
        has_more = own_work > MORE_WORK_FACTOR * float(np.median(their_work))
        # kernels that take as long where they have as much to do: those that have more explain the rest
        is_as_fast = equal is not None and equal.slower_ns < (1 - MOSTLY_FRAC) * computing_ns
        if has_more or (is_as_fast and named is not None and named.slower_ns > MOSTLY_FRAC * computing_ns):
            return WhyLate(Lateness.MORE_WORK, computing_ns, ratio)
        told = equal or named
        if told is None:
            return WhyLate(Lateness.SLOW_COMPUTE, computing_ns, None)
        if told.ratio < SLOWER_FACTOR:
            # its kernels are as fast as the others', and there are as many
            return None
        return WhyLate(Lateness.CLOCK_THROTTLE if told.is_uniform else Lateness.SLOW_COMPUTE, computing_ns, told.ratio)

    def _known_device(self, member: int) -> Device:
        device = self._device(member)
        assert device is not None, "only devices of the job are compared"
        return device

    def _device(self, member: int) -> Device | None:
        return self._devices.get(self._job.collectives.members[member].id)

    @cached_property
    def _devices(self) -> dict[str, Device]:
        return {device.id: device for device in self._job.devices}

    @cached_property
    def _common_ns(self) -> tuple[int, int]:
        """The window that all ranks share, on the common clock; that of the first where they share none."""
        found = self._job.collectives
        windows = []
        for place in range(len(found.members)):
            device = self._device(place)
            if device is not None:
                begin_ns, end_ns = found.line(place).moved(device.occupancy.bounds_ns[[0, -1]]).tolist()
                windows.append((begin_ns, end_ns))
        begin_ns, end_ns = max(begin for begin, _ in windows), min(end for _, end in windows)
        return (begin_ns, end_ns) if begin_ns < end_ns else windows[0]

    def _of(self, member: int) -> _Spent:
        if member not in self._spent:
            self._spent[member] = self._measured(member)
        return self._spent[member]

    def _measured(self, member: int) -> _Spent:
        device, line = self._known_device(member), self._job.collectives.line(member)
        begin_ns, end_ns = map(line.before, self._common_ns)
        [parts_ns] = coverage(device.occupancy, np.array([begin_ns, end_ns])).tolist()
        idle = self._job.idle.of_device(device)
        if idle is None:
            causes = {Cause.UNKNOWN: parts_ns[list(Part).index(Part.IDLE)]}
        else:
            told = causes_of(idle.pieces.clipped(begin_ns, end_ns))
            causes = {cause: told.of(cause) for cause in Cause}
        return _Spent(sum(parts_ns[place] for place in _COMPUTING), causes)

    def _work(self, members: Sequence[int]) -> list[float]:
        """What tells how much each has to do: the bytes it sends in all-to-alls, else the number of its kernels.

        Bytes only where all of them are told: one's bytes are no measure of another's kernels.
        """
        sent_bytes = [self._sent_bytes(member) for member in members]
        known = [size for size in sent_bytes if size is not None]
        if len(known) == len(members):
            return known
        return [float(self._speeds.count(self._known_device(member))) for member in members]

    def _sent_bytes(self, member: int) -> float | None:
        """The bytes that a rank sends in all-to-alls, None where none are told."""
        found = self._job.collectives
        own = found.rows_of(member)
        to_all = (SEND_RECV, KINDS.index(Collective.ALL_TO_ALL))
        sizes = found.operations.size_bytes[own][np.isin(found.operations.kind[own], to_all)]
        sizes = sizes[sizes != ABSENT]
        return float(sizes.sum()) if len(sizes) else None
