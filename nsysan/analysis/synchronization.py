"""How long the host waited for each device, and how much of that while the device idled: only that can be a cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import ClassVar

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.of_reports import OfReport, answered, skipped_by_all
from nsysan.analysis.registry import Analysis
from nsysan.attribution.cuda_calls import CallKind
from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.job import Job
from nsysan.model.host_events import Synchronization as SynchronizationType
from nsysan.model.profilers import RECORD_HOST
from nsysan.model.results import ResultSet, Skipped
from nsysan.timeline.intervals import Intervals, union

_WAITS_OF_HOST = (SynchronizationType.EVENT, SynchronizationType.STREAM, SynchronizationType.CONTEXT)
"""A stream that waits for an event makes no host thread wait."""


class SynchronizationSource(str, Enum):
    """Where the waits were recorded: as such, or as the calls that wait, which take a little longer.

    Where a process has no row, none were recorded of it: the calls count.
    """

    SYNCHRONIZATION_ROWS = "synchronization_rows"
    CUDA_CALLS = "cuda_calls"


class SynchronizationOfDevice(msgspec.Struct, frozen=True):
    """The waits of a device's process in the capture: their union over all its threads.

    ``in_idle_ns`` of it passed while the device idled in its window, ``in_busy_ns`` while it worked there. A process
    with several devices is told for each.
    """

    device: str
    source: SynchronizationSource
    count: int
    total_ns: int
    in_idle_ns: int
    in_busy_ns: int


class Synchronization(msgspec.Struct, frozen=True):
    """The waits of each device."""

    id: ClassVar[str] = "synchronization"

    synchronization: tuple[SynchronizationOfDevice, ...]


def compute_synchronization(job: Job, _results: ResultSet) -> Synchronization | Skipped:
    """The waits of the host for every device; skipped where neither waits nor calls were recorded."""
    if not job.gpus:
        return no_gpu_work(Synchronization.id, job)
    found = tuple(entry for device in job.devices for entry in _of_device(job, device))
    if not found:
        recapture = RECORD_HOST.by({trace.profiler for trace in job.traces})
        return Skipped(Synchronization.id, "the trace holds no CUDA calls", recapture)
    return Synchronization(found)


def merge_synchronization(_job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> Synchronization | Skipped:
    """The devices of all reports."""
    found = answered(parts, Synchronization)
    rows = (replace(row, device=part.device(row.device)) for part, told in found for row in told.synchronization)
    return Synchronization(tuple(rows)) if found else skipped_by_all(parts, Synchronization)


ANALYSIS = Analysis(Synchronization, compute_synchronization, merge=merge_synchronization)


def _of_device(job: Job, device: Device) -> Iterator[SynchronizationOfDevice]:
    host = job.idle.threads[device.report].host
    for source, waits in (
        (SynchronizationSource.SYNCHRONIZATION_ROWS, _rows),
        (SynchronizationSource.CUDA_CALLS, _calls),
    ):
        found = waits(host, device.global_pid)
        if found is not None:
            count, time = found
            in_idle_ns = time.overlap_ns(device.occupancy.idle())
            in_window_ns = int(np.diff(time.covered_until(device.occupancy.bounds_ns[[0, -1]]))[0])
            yield SynchronizationOfDevice(
                device.id, source, count, time.total_ns, in_idle_ns, in_window_ns - in_idle_ns
            )
            return


def _rows(host: Host, global_pid: int) -> tuple[int, Intervals] | None:
    table = host.trace.synchronizations
    if table is None:
        return None
    of_process = table.global_pid == global_pid
    if not of_process.any():
        return None
    waits = np.isin(table.sync_type, [int(kind) for kind in _WAITS_OF_HOST]) & of_process
    return int(waits.sum()), union(table.start_ns[waits], table.end_ns[waits])


def _calls(host: Host, global_pid: int) -> tuple[int, Intervals] | None:
    if host.trace.runtime_calls is None:
        return None
    waits = host.calls_of(global_pid, CallKind.SYNCHRONIZE)
    return len(waits), union(host.calls.start_ns[waits], host.calls.end_ns[waits])
