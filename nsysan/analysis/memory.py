"""How much GPU memory was taken and when, and what allocations, pageable copies and missed pages the steps hold."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import ClassVar, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.memory_in_steps import MemoryInSteps, memory_in_steps
from nsysan.analysis.registry import Analysis
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.job import Job
from nsysan.attribution.memory_use import MemoryCurve, allocator_curve, driver_curve, has_times, summed
from nsysan.model.details import Detail
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.profilers import Profiler, Recapture
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import AllocatorStates, GpuPageFaults, MemoryEvents
from nsysan.model.trace import Trace
from nsysan.timeline.intervals import union

AnyMemoryTable = TypeVar("AnyMemoryTable", MemoryEvents, AllocatorStates, GpuPageFaults)

_MEMORY = Topic("memory", "GPU memory, and the steps' use of it")
CURVE_POINTS = 240
"""A curve has at most so many points: the highest of as many even stretches."""

RECORD_MEMORY = Recapture(
    nsys="Record with --cuda-memory-usage=true.", torch="Record with torch.profiler: profile(profile_memory=True, ...)."
)


class MemorySource(str, Enum):
    """Who counted the memory: the driver, what it handed out; PyTorch's allocator, what it reserved or had in use."""

    DRIVER_RESERVED = "driver_reserved"
    ALLOCATOR_RESERVED = "allocator_reserved"
    ALLOCATOR_USED = "allocator_used"


class MemoryOfGpu(msgspec.Struct, frozen=True):
    """Memory in use on a GPU by the processes that were recorded, as ``source`` counted it.

    What was taken before recording began and never freed is not in it. ``start_bytes`` is what was freed later without
    having been allocated before. ``curve`` holds pairs of time and bytes, the highest of even stretches.
    """

    gpu: str
    source: MemorySource
    capacity_bytes: int | None
    start_bytes: int
    peak_bytes: int
    peak_at_ns: int | None
    end_bytes: int
    event_count: int
    curve: tuple[tuple[int, int], ...]


class PageFaultsOfDevice(msgspec.Struct, frozen=True):
    """Pages of unified memory that a device missed in the capture; ``gpu_fault_ns`` is the union of these faults.

    ``host_fault_count`` is of the process, null where the host's were not recorded.
    """

    device: str
    gpu_fault_count: int | None
    gpu_fault_ns: int | None
    host_fault_count: int | None


class MemoryReport(msgspec.Struct, frozen=True):
    """``unknown`` says of each list that is empty because nothing was recorded what to record."""

    gpus: tuple[MemoryOfGpu, ...]
    in_steps: tuple[MemoryInSteps, ...]
    page_faults: tuple[PageFaultsOfDevice, ...]
    unknown: dict[str, str]


class Memory(msgspec.Struct, frozen=True):
    """The memory of the job."""

    id: ClassVar[str] = "memory"

    memory: MemoryReport

    def figures(self) -> Iterator[Figure]:
        """The peak of the fullest GPU as each source counts it, and what the steady steps hold, mean over these."""
        for source in MemorySource:
            peaks = [gpu.peak_bytes for gpu in self.memory.gpus if gpu.source is source]
            if peaks:
                name = f"peak of the fullest GPU, {spelled(source.value)}"
                yield Figure(_MEMORY, f"peak_{source.value}", name, max(peaks), Unit.BYTES, Better.LESS)
        known = [entry for entry in self.memory.in_steps if entry.allocator_call_count is not None]
        if known:
            calls = sum(entry.allocator_call_count or 0 for entry in known) / sum(entry.step_count for entry in known)
            yield Figure(_MEMORY, "allocator_calls", "allocator calls a step", calls, Unit.COUNT, Better.LESS)
        if self.memory.in_steps:
            copied = sum(entry.pageable_copy_bytes for entry in self.memory.in_steps)
            a_step = copied / sum(entry.step_count for entry in self.memory.in_steps)
            yield Figure(_MEMORY, "pageable_bytes", "pageable copies a step", a_step, Unit.BYTES, Better.LESS)


def compute_memory(job: Job, _results: ResultSet) -> Memory | Skipped:
    """Memory over time and in steps; skipped where neither memory events nor steps were recorded."""
    if not job.gpus:
        return no_gpu_work(Memory.id, job)
    report = MemoryReport(
        gpus=tuple(entry for gpu in job.gpus for entry in _of_gpu(job, gpu)),
        in_steps=tuple(entry for device in job.devices for entry in memory_in_steps(job, device)),
        page_faults=tuple(entry for device in job.devices for entry in _page_faults(job, device)),
        unknown={},
    )
    recapture = RECORD_MEMORY.by({trace.profiler for trace in job.traces})
    if not (report.gpus or report.in_steps or report.page_faults):
        return Skipped(Memory.id, "the trace holds no memory events, and no steps in which to look", recapture)
    return Memory(replace(report, unknown=_unknown(job, report, recapture)))


ANALYSIS = Analysis(Memory, compute_memory, details=frozenset({Detail.MEMORY}))


def _unknown(job: Job, report: MemoryReport, recapture: str) -> dict[str, str]:
    reasons = {"gpus": f"the trace holds no memory events. {recapture}", "in_steps": "there are no steady steps"}
    if any(trace.memory_events for trace in job.traces):
        reasons["gpus"] = "the memory events have no times, so what was taken at once is not known"
    if any(trace.profiler is Profiler.NSYS for trace in job.traces):
        reasons["page_faults"] = (
            "the trace holds no page faults of unified memory. Where such memory is used, record with "
            "--cuda-um-gpu-page-faults=true --cuda-um-cpu-page-faults=true."
        )
    return {key: reason for key, reason in reasons.items() if not getattr(report, key)}


def _trace_of(job: Job, device: Device) -> Trace:
    return job.idle.threads[device.report].host.trace


def _of_gpu(job: Job, gpu: Gpu) -> Iterator[MemoryOfGpu]:
    curves: dict[MemorySource, list[MemoryCurve]] = {source: [] for source in MemorySource}
    event_counts = dict.fromkeys(MemorySource, 0)
    for device in gpu.devices:
        for source, curve, event_count in _curves(job, device):
            curves[source].append(_on_clock_of_gpu(job, gpu, device, curve))
            event_counts[source] += event_count
    for source, found in curves.items():
        if found:
            yield _entry(job, gpu, source, summed(found), event_counts[source])


def _curves(job: Job, device: Device) -> Iterator[tuple[MemorySource, MemoryCurve, int]]:
    """Each way in which the memory of a device was counted: the curve, and from how many events it is."""
    trace = _trace_of(job, device)
    if (events := _of_device(trace.memory_events, device)) and has_times(events):
        yield MemorySource.DRIVER_RESERVED, driver_curve(events), len(events)
    if states := _of_device(trace.allocator_states, device):
        yield MemorySource.ALLOCATOR_RESERVED, allocator_curve(states, states.reserved_bytes), len(states)
        yield MemorySource.ALLOCATOR_USED, allocator_curve(states, states.allocated_bytes), len(states)


def _of_device(table: AnyMemoryTable | None, device: Device) -> AnyMemoryTable | None:
    """The records of the device, None where there are none."""
    if table is None:
        return None
    found = table.take((table.global_pid == device.global_pid) & (table.device_id == device.device_id))
    return found if len(found) else None


def _on_clock_of_gpu(job: Job, gpu: Gpu, device: Device, curve: MemoryCurve) -> MemoryCurve:
    return replace(curve, times_ns=curve.times_ns + job.shift_ns(device.report, gpu.devices[0].report))


def _entry(job: Job, gpu: Gpu, source: MemorySource, curve: MemoryCurve, event_count: int) -> MemoryOfGpu:
    times_ns, in_use_bytes = curve.summits(CURVE_POINTS)
    peak_at = np.flatnonzero(in_use_bytes == curve.peak_bytes)
    return MemoryOfGpu(
        gpu=gpu.id,
        source=source,
        capacity_bytes=_capacity(job, gpu),
        start_bytes=curve.start_bytes,
        peak_bytes=curve.peak_bytes,
        peak_at_ns=int(times_ns[peak_at[0]]) if len(peak_at) else None,
        end_bytes=curve.end_bytes,
        event_count=event_count,
        curve=tuple(zip(times_ns.tolist(), in_use_bytes.tolist(), strict=True)),
    )


def _capacity(job: Job, gpu: Gpu) -> int | None:
    known = [
        found.memory_bytes
        for found in job.traces[gpu.devices[0].report].gpus
        if found.gpu_id == gpu.identity.machine_id
    ]
    return known[0] if known else None


def _page_faults(job: Job, device: Device) -> Iterator[PageFaultsOfDevice]:
    trace = _trace_of(job, device)
    of_gpu, of_host = trace.gpu_page_faults, trace.host_page_faults
    # an export of every table has empty ones for what was not recorded
    if not of_gpu and not of_host:
        return
    found = _of_device(of_gpu, device)
    yield PageFaultsOfDevice(
        device=device.id,
        gpu_fault_count=None if not of_gpu else int(found.fault_count.sum()) if found else 0,
        gpu_fault_ns=None if not of_gpu else union(found.start_ns, found.end_ns).total_ns if found else 0,
        host_fault_count=None if not of_host else int((of_host.global_pid == device.global_pid).sum()),
    )
