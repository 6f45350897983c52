"""Memory in use over time, from allocations and frees by address."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.model.arrays import Int64Array
from nsysan.model.copies import MemoryKind, MemoryOperation
from nsysan.model.tables import AllocatorStates, MemoryEvents
from nsysan.timeline.ordering import order_of

_ON_DEVICE = (MemoryKind.DEVICE, MemoryKind.ARRAY, MemoryKind.DEVICE_STATIC)
"""Managed memory moves between host and device, the others lie on the host."""


class MemoryCurve(msgspec.Struct, frozen=True, eq=False):
    """Bytes in use from each moment to the next; before the first there are ``start_bytes``."""

    times_ns: Int64Array
    in_use_bytes: Int64Array
    start_bytes: int

    @property
    def peak_bytes(self) -> int:
        """The most that was in use at once."""
        return max(int(self.in_use_bytes.max(initial=0)), self.start_bytes)

    @property
    def end_bytes(self) -> int:
        """What was in use at the end."""
        return int(self.in_use_bytes[-1]) if len(self.in_use_bytes) else self.start_bytes

    def summits(self, count: int) -> tuple[Int64Array, Int64Array]:
        """The highest points, in order of time: of each of ``count`` even stretches the first one, fewer if empty."""
        if not len(self.times_ns):
            return self.times_ns, self.in_use_bytes
        span_ns = int(self.times_ns[-1] - self.times_ns[0]) + 1
        stretch = (self.times_ns - self.times_ns[0]) * count // span_ns
        highest = order_of(stretch, -self.in_use_bytes)
        chosen = highest[np.concatenate([[True], np.diff(stretch[highest]) > 0])]
        return self.times_ns[chosen], self.in_use_bytes[chosen]


def has_times(events: MemoryEvents) -> bool:
    """Whether the events can be put in order: some releases of nsys write 0 as the time of each."""
    return bool(events.start_ns.any()) or not bool((events.operation == MemoryOperation.DEALLOCATION).any())


def driver_curve(events: MemoryEvents) -> MemoryCurve:
    """What the driver had handed out of device memory, to one process on one device.

    A block that is freed without having been allocated was in use from the start. Where an address is handed out again
    the free in between was lost: it counts as freed then.
    """
    events = events.take(np.isin(events.memory_kind, [int(kind) for kind in _ON_DEVICE]))
    is_free = events.operation == MemoryOperation.DEALLOCATION
    # of one moment a free comes first, so that what takes its place is not counted beside it
    block = codes_of(events.address)
    order = order_of(block, events.start_ns, ~is_free)
    after_bytes = np.where(is_free, 0, events.size_bytes)[order]
    is_first = np.concatenate([[True], np.diff(block[order]) != 0])[: len(order)]
    unseen_bytes = np.where(is_free, events.size_bytes, 0)[order]
    before_bytes = np.where(is_first, unseen_bytes, np.concatenate([[0], after_bytes[:-1]])[: len(order)])
    changes_bytes = np.empty(len(order), np.int64)
    changes_bytes[order] = after_bytes - before_bytes
    return _running(events.start_ns, changes_bytes, int(before_bytes[is_first].sum()))


def allocator_curve(states: AllocatorStates, in_use_bytes: Int64Array) -> MemoryCurve:
    """What PyTorch's allocator said after each of its events."""
    order = order_of(states.start_ns)
    start_bytes = int(in_use_bytes[order[0]]) if len(order) else 0
    return _last_of_moments(states.start_ns[order], in_use_bytes[order], start_bytes)


def summed(curves: list[MemoryCurve]) -> MemoryCurve:
    """The memory of several processes on one clock."""
    if len(curves) == 1:
        return curves[0]
    changes = [np.diff(np.concatenate([[curve.start_bytes], curve.in_use_bytes])) for curve in curves]
    times_ns = np.concatenate([curve.times_ns for curve in curves])
    return _running(times_ns, np.concatenate(changes), sum(curve.start_bytes for curve in curves))


def _running(times_ns: Int64Array, changes_bytes: Int64Array, start_bytes: int) -> MemoryCurve:
    order = order_of(times_ns)
    return _last_of_moments(times_ns[order], start_bytes + np.cumsum(changes_bytes[order]), start_bytes)


def _last_of_moments(times_ns: Int64Array, in_use_bytes: Int64Array, start_bytes: int) -> MemoryCurve:
    last = np.append(np.diff(times_ns) > 0, [True])[: len(times_ns)]
    return MemoryCurve(times_ns[last], in_use_bytes[last], start_bytes)
