"""What the steady steps of a device hold of calls that allocate or free, and of copies of pageable memory."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.attribution.cuda_calls import CallKind
from nsysan.attribution.devices import Device
from nsysan.attribution.job import Job
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.copies import MemoryKind
from nsysan.timeline.intervals import Intervals


class MemoryInSteps(msgspec.Struct, frozen=True):
    """What the steady steps of a device hold of calls that allocate or free, and of copies of pageable memory.

    Calls are the process'; ``affected_step_count`` steps have any. They are null where no calls were recorded.
    """

    device: str
    step_count: int
    allocator_call_count: int | None
    allocator_call_ns: int | None
    affected_step_count: int | None
    pageable_copy_count: int
    pageable_copy_bytes: int
    pageable_copy_ns: int


def memory_in_steps(job: Job, device: Device) -> Iterator[MemoryInSteps]:
    """What the steady steps of a device hold, nothing where it has none."""
    steps = steady_steps(job, device)
    if steps is None:
        return
    calls = _allocator_calls(job, device, steps)
    copies = _pageable_copies(job, device, steps)
    yield MemoryInSteps(
        device=device.id,
        step_count=len(steps),
        allocator_call_count=None if calls is None else len(calls[0]),
        allocator_call_ns=None if calls is None else int(calls[1].sum()),
        affected_step_count=None if calls is None else len(set(calls[0].tolist())),
        pageable_copy_count=len(copies[0]),
        pageable_copy_bytes=int(copies[0].sum()),
        pageable_copy_ns=int(copies[1].sum()),
    )


def _allocator_calls(job: Job, device: Device, steps: Intervals) -> tuple[Int64Array, Int64Array] | None:
    """The step in which each call that allocates or frees begins, and how long it takes; None without calls."""
    host = job.idle.threads[device.report].host
    if not len(host.calls):
        return None
    rows = host.calls_of(device.global_pid, CallKind.ALLOCATE, CallKind.FREE)
    step = _step_of(steps, host.calls.start_ns[rows])
    inside = step >= 0
    return step[inside], host.calls.end_ns[rows[inside]] - host.calls.start_ns[rows[inside]]


def _pageable_copies(job: Job, device: Device, steps: Intervals) -> tuple[Int64Array, Int64Array]:
    """Bytes and duration of each copy from or to pageable memory that begins in the steps."""
    copies = job.traces[device.report].copies
    rows = device.rows_of("copies")
    if copies is None or not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    copies = copies.take(rows)
    pageable: BoolArray = (copies.src_kind == MemoryKind.PAGEABLE) | (copies.dst_kind == MemoryKind.PAGEABLE)
    found = copies.take(pageable & (_step_of(steps, copies.start_ns) >= 0))
    return np.maximum(found.size_bytes, 0), found.end_ns - found.start_ns


def _step_of(steps: Intervals, times_ns: Int64Array) -> Int64Array:
    """The place of the step that holds each moment, -1 where none does."""
    place = np.searchsorted(steps.start_ns, times_ns, side="right") - 1
    inside = (place >= 0) & (times_ns < steps.end_ns[np.maximum(place, 0)])
    return np.where(inside, place, -1)
