"""Exposed copies and waits for copies by what they bring: a batch, states to be saved, values read back, or else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nsysan.attribution.cuda_calls import CallKind
from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.idle.pieces import IdleTime
from nsysan.attribution.job import Job
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.stages.codes import UNASSIGNED
from nsysan.attribution.stages.codes import code_of as stage_code
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.model.losses import EXPOSED_COPY
from nsysan.model.partition import Part
from nsysan.model.stages import Stage
from nsysan.model.tables import Copies
from nsysan.model.thresholds import BATCH_BYTES, SAVED_BYTES, SAVING_FRAC
from nsysan.model.verdicts import BottleneckClass
from nsysan.timeline.intervals import Intervals, intersection, union

CopyLoss = tuple[str, BottleneckClass, Intervals]
"""What the time is lost to, its class, and when."""

_DATA, _MEMORY, _SCHEDULING = BottleneckClass.DATA, BottleneckClass.MEMORY, BottleneckClass.SCHEDULING
_BLOCKING = Cause.BLOCKING_COPY.value
_BRINGS_BATCH = (stage_code(Stage.DATA), stage_code(Stage.HOST_TO_DEVICE_COPY))
_BATCH, _OTHER, _READ_BACK, _SAVED = range(4)
"""What a copy brings."""
_CLASSES = {_BATCH: _DATA, _OTHER: _MEMORY, _READ_BACK: _SCHEDULING, _SAVED: _SCHEDULING}


class CopiesOfDevice:
    """The copies of one device, in the order of its activities."""

    def __init__(self, job: Job, device: Device) -> None:
        self._host: Host = job.idle.threads[device.report].host
        self._job, self._device = job, device
        self._places = np.flatnonzero(device.activities.are_of("copies"))
        self._records = self._copies()
        self._calls = self._host.launches.of(device.activities)[self._places]
        to_host = np.where(self._is_checkpoint(), _SAVED, np.where(self._is_blocking(), _READ_BACK, _OTHER))
        self._class = np.where(self._is_batch(), _BATCH, np.where(self._is_to_host(), to_host, _OTHER))

    def exposed(self) -> Iterator[CopyLoss]:
        """When copies are exposed, by what they bring; what several share goes to the first of these. Memsets last."""
        part = list(Part).index(Part.EXPOSED_COPY)
        rows = np.flatnonzero(self._device.occupancy.parts == part)
        bounds_ns = self._device.occupancy.bounds_ns
        rest = union(bounds_ns[rows], bounds_ns[rows + 1])
        blocking = self._is_blocking()
        for place, found_class in _CLASSES.items():
            for name, chosen in ((_BLOCKING, blocking), (EXPOSED_COPY, ~blocking)):
                own = self._times((self._class == place) & chosen)
                yield _named(name, place), found_class, intersection(rest, own)
                rest = rest.without(own)
        yield EXPOSED_COPY, _MEMORY, rest

    def waits(self, idle: IdleTime | None) -> Iterator[CopyLoss]:
        """Idle time by blocking copies, each by the copy next to it."""
        if idle is None:
            return
        pieces = idle.pieces.take(np.flatnonzero(idle.pieces.cause == code_of(Cause.BLOCKING_COPY)))
        nearest = self._nearest(pieces.start_ns, pieces.end_ns)
        for place, found_class in _CLASSES.items():
            own = nearest == place
            yield _named(_BLOCKING, place), found_class, union(pieces.start_ns[own], pieces.end_ns[own])

    def _copies(self) -> Copies:
        copies = self._host.trace.copies
        if copies is None:
            return Copies.concatenate([])
        return copies.take(self._device.activities.row[self._places])

    def _times(self, chosen: BoolArray) -> Intervals:
        activities = self._device.activities
        return union(activities.start_ns[self._places[chosen]], activities.end_ns[self._places[chosen]])

    def _is_to_host(self) -> BoolArray:
        return np.asarray(self._records.copy_kind == CopyKind.DEVICE_TO_HOST)

    def _is_blocking(self) -> BoolArray:
        """A copy that holds its thread up: not asynchronous by name, or of pageable memory."""
        of_call = np.append(self._host.kinds == CallKind.COPY, np.False_)
        records = self._records
        pageable = (records.src_kind == MemoryKind.PAGEABLE) | (records.dst_kind == MemoryKind.PAGEABLE)
        return np.asarray(of_call[self._calls] | pageable)

    def _is_checkpoint(self) -> BoolArray:
        """Copies to the host in the few steps that copy much of it: states are saved every so many steps."""
        saved = self._is_to_host()
        steps = self._job.steps.of_device(self._device)[1]
        if steps is None or not saved.any():
            return np.zeros(len(self._places), np.bool_)
        step = steps.labelling().at(self._device.activities.start_ns[self._places])
        held = saved & (step >= 0)
        saved_bytes = np.bincount(step[held], self._records.size_bytes[held].clip(min=0), len(steps))
        saves = saved_bytes >= SAVED_BYTES
        return np.asarray(held & saves[step] & (saves.mean() < SAVING_FRAC))

    def _is_batch(self) -> BoolArray:
        """Copies of some size to the device that the data stage made, or called in a range that loads data."""
        large = (self._records.copy_kind == CopyKind.HOST_TO_DEVICE) & (self._records.size_bytes >= BATCH_BYTES)
        staged = self._job.stages.of_activities(self._device)
        stage = np.full(len(self._places), UNASSIGNED) if staged is None else staged.stage[self._places]
        return np.asarray(large & (np.isin(stage, _BRINGS_BATCH) | self._is_called_in_data_range()))

    def _is_called_in_data_range(self) -> BoolArray:
        host, calls = self._host, self._host.calls
        inside = np.zeros(len(self._places), np.bool_)
        called = np.flatnonzero(self._calls != NO_CALL)
        loading = np.flatnonzero(host.range_causes == code_of(Cause.DATA_LOADING))
        if not len(called) or not len(loading):
            return inside
        threads = calls.global_tid[self._calls[called]]
        for global_tid in distinct(threads).tolist():
            ranges = loading[host.ranges.global_tid[loading] == global_tid]
            spans = union(host.ranges.start_ns[ranges], host.range_ends_ns[ranges])
            own = called[threads == global_tid]
            inside[own] = spans.covers(calls.start_ns[self._calls[own]])
        return inside

    def _nearest(self, start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
        """What the copy brings that begins first after each stretch began, else the last; other without copies."""
        if not len(self._places):
            return np.full(len(start_ns), _OTHER)
        begins_ns = self._device.activities.start_ns[self._places]
        after = np.searchsorted(begins_ns, start_ns).clip(max=len(begins_ns) - 1)
        before = np.maximum(after - 1, 0)
        # a wait before the copy begins with the call; one after it ends with the next work
        is_after = begins_ns[after] <= end_ns
        return np.asarray(self._class[np.where(is_after, after, before)])


def _named(cause: str, place: int) -> str:
    """What the time is lost to: saving states is a cause of its own, whichever way they are copied."""
    return Cause.CHECKPOINT.value if place == _SAVED else cause
