"""How work reached each device: the calls that launched it, what they cost, and whether the device had to wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.of_reports import OfReport, answered, skipped_by_all
from nsysan.analysis.registry import Analysis
from nsysan.attribution.devices import Device
from nsysan.attribution.job import Job
from nsysan.attribution.queue import device_launches
from nsysan.model.arrays import Int64Array
from nsysan.model.profilers import RECORD_HOST
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import ABSENT


class LaunchesOfDevice(msgspec.Struct, frozen=True):
    """The launches of a device; one call may launch many kernels (a graph's), and costs the host its time once.

    ``launch_latency_ns`` is the median time from a call's begin to that of its (first) work, ``queue_delay_ns`` the
    median from its end to there, of those whose work began later. ``empty_queue_frac`` is the share of calls that began
    while nothing launched before was unfinished. ``repeated_call_count`` counts further rows of one correlation id in
    the device's process, ``impossible_pair_count`` work that began before its call; neither is in the figures.
    """

    device: str
    call_count: int
    activity_count: int
    call_ns: int
    launch_latency_ns: float | None
    queue_delay_ns: float | None
    queue_depth: float | None
    empty_queue_frac: float | None
    without_call_count: int
    impossible_pair_count: int
    repeated_call_count: int


class Launches(msgspec.Struct, frozen=True):
    """The launches of each device."""

    id: ClassVar[str] = "launches"

    launches: tuple[LaunchesOfDevice, ...]


def compute_launches(job: Job, _results: ResultSet) -> Launches | Skipped:
    """The launches on every device; skipped where no calls were recorded."""
    if not job.gpus:
        return no_gpu_work(Launches.id, job)
    recorded = [device for device in job.devices if len(job.idle.threads[device.report].host.calls)]
    if not recorded:
        recapture = RECORD_HOST.by({trace.profiler for trace in job.traces})
        return Skipped(Launches.id, "the trace holds no CUDA calls", recapture)
    return Launches(tuple(_of_device(job, device) for device in recorded))


def merge_launches(_job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> Launches | Skipped:
    """The devices of all reports."""
    found = answered(parts, Launches)
    rows = (replace(row, device=part.device(row.device)) for part, told in found for row in told.launches)
    return Launches(tuple(rows)) if found else skipped_by_all(parts, Launches)


ANALYSIS = Analysis(Launches, compute_launches, merge=merge_launches)


def _of_device(job: Job, device: Device) -> LaunchesOfDevice:
    host = job.idle.threads[device.report].host
    found = device_launches(device.activities, host)
    calls = found.calls
    durations_ns = host.calls.end_ns[calls.call] - host.calls.start_ns[calls.call]
    repeated = np.flatnonzero(host.launches.is_repeated)
    return LaunchesOfDevice(
        device=device.id,
        call_count=len(calls),
        activity_count=len(device.activities),
        call_ns=int(durations_ns.sum()),
        launch_latency_ns=_median(calls.latency_ns),
        queue_delay_ns=_median(calls.queue_ns[calls.queue_ns != ABSENT]),
        queue_depth=_median(calls.depth),
        empty_queue_frac=float((calls.depth == 0).mean()) if len(calls) else None,
        without_call_count=found.without_call_count,
        impossible_pair_count=found.impossible_pair_count,
        repeated_call_count=int((host.processes_of(repeated) == device.global_pid).sum()),
    )


def _median(values: Int64Array) -> float | None:
    return float(np.median(values)) if len(values) else None
