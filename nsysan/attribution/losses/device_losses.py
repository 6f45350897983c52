"""What one device lost in each of its stretches, and to what."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.attribution.devices import Device
from nsysan.attribution.idle.codes import CAUSES
from nsysan.attribution.job import Job
from nsysan.attribution.losses.communication import ExposedByMember
from nsysan.attribution.losses.copies import CopiesOfDevice
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import Distinct
from nsysan.model.idle import Cause
from nsysan.model.losses import (
    CLASS_OF_CAUSE,
    EXPOSED_COLLECTIVE,
    PIPELINE_BUBBLE,
    Bound,
    lost_to,
)
from nsysan.model.verdicts import BottleneckClass
from nsysan.timeline.intervals import Intervals, union

LossKey = tuple[str, BottleneckClass | None, Bound]
"""What time is lost to, its class, and in which direction an estimate of it errs."""

Losses = dict[LossKey, Int64Array]
"""Time lost in each stretch of a device."""


class DeviceLosses:
    """The losses of one device: ``start_ns`` and ``end_ns`` are its stretches."""

    def __init__(
        self, job: Job, device: Device, communication: ExposedByMember, start_ns: Int64Array, end_ns: Int64Array
    ) -> None:
        self._job, self._device = job, device
        self._start_ns, self._end_ns = start_ns, end_ns
        members = {member.id: place for place, member in enumerate(job.collectives.members)}
        self._exposed = communication.of(members[device.id])

    @property
    def exposed_wait_ns(self) -> Int64Array:
        """How long it waited for others where nothing hid that."""
        return self._within(self._exposed.wait)

    @property
    def bubble_wait_ns(self) -> Int64Array:
        """How much of that was for other stages of its pipeline."""
        return self._within(self._exposed.bubble)

    @property
    def exchange_ns(self) -> Int64Array:
        """How long transfers in which ranks send to all others were exposed."""
        return self._within(self._exposed.exchange)

    def idle_ns(self, shorter_than_ns: int | None = None) -> Int64Array:
        """How long each stretch idles; where a bound is given in gaps that are shorter."""
        gaps = self._device.occupancy.idle()
        if shorter_than_ns is None:
            return self._within(gaps)
        short = gaps.durations_ns < shorter_than_ns
        return self._within(Intervals(gaps.start_ns[short], gaps.end_ns[short]))

    def losses(self) -> Losses:
        """What each stretch lost, by what to."""
        found: Losses = {}
        for key, lost_ns in (*self._idle(), *self._copies(), *self._communication()):
            found[key] = found.get(key, 0) + lost_ns
        return found

    def _within(self, intervals: Intervals) -> Int64Array:
        return intervals.within(self._start_ns, self._end_ns)

    def _idle(self) -> Iterator[tuple[LossKey, Int64Array]]:
        idle = self._job.idle.of_device(self._device)
        if idle is None:
            gaps = self._device.occupancy.idle()
            yield (Cause.UNKNOWN.value, None, Bound.AT_MOST), self._within(gaps)
            return
        pieces = idle.pieces
        for code in Distinct.of(pieces.cause).values.tolist():
            cause = CAUSES[code]
            if cause is not Cause.BLOCKING_COPY:
                own = pieces.cause == code
                times = union(pieces.start_ns[own], pieces.end_ns[own])
                yield (lost_to(cause), CLASS_OF_CAUSE[cause], Bound.AT_MOST), self._within(times)

    def _copies(self) -> Iterator[tuple[LossKey, Int64Array]]:
        copies = CopiesOfDevice(self._job, self._device)
        for cause, found_class, times in (*copies.exposed(), *copies.waits(self._job.idle.of_device(self._device))):
            yield (cause, found_class, Bound.AT_MOST), self._within(times)

    def _communication(self) -> Iterator[tuple[LossKey, Int64Array]]:
        """Stages of a pipeline wait for their turn, told or not; what else is not taken apart may be either."""
        exposed, communication = self._exposed, BottleneckClass.COMMUNICATION
        yield (EXPOSED_COLLECTIVE, communication, Bound.EITHER), self._within(exposed.transfer)
        yield (EXPOSED_COLLECTIVE, communication, Bound.AT_MOST), self._within(exposed.unresolved)
        yield (
            (PIPELINE_BUBBLE, BottleneckClass.SCHEDULING, Bound.AT_MOST),
            self.bubble_wait_ns + self._within(exposed.messages),
        )
