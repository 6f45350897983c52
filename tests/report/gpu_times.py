"""GPUs, their devices and causes of idle time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from nsysan.analysis.gpu_time import DeviceTimes, GpuTime, GpuTimes, JobTimes, PartSpreads, Spread
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.partition import Part, PartTimes

# 600 + 100 + 0 + 0 + 150 + 50 + 100 = 1,000 ms, and 500 + 100 + 0 + 0 + 100 + 50 + 250 = 1,000 ms
FIRST_TIME = PartTimes(600_000_000, 100_000_000, 0, 0, 150_000_000, 50_000_000, 100_000_000)
SECOND_TIME = PartTimes(500_000_000, 100_000_000, 0, 0, 100_000_000, 50_000_000, 250_000_000)


def causes_of(**times_ms: int) -> IdleCauses:
    """Idle time of so many ms a cause."""
    return IdleCauses.of_times({Cause(name): time_ms * 1_000_000 for name, time_ms in times_ms.items()})


def gpu(
    gpu_id: str, time: PartTimes, *, devices: tuple[str, ...] | None = None, causes: IdleCauses | None = None
) -> GpuTimes:
    """A GPU with this partition from 2 s on, one device unless told, and whatever follows from the parts."""
    window_ns = time.window_ns
    hidden, exposed = time.overlapped_ns, time.exposed_communication_ns
    return GpuTimes(
        id=gpu_id,
        name="NVIDIA H100 80GB HBM3",
        uuid=None,
        devices=devices or (f"{gpu_id}/p100",),
        window_start_ns=2_000_000_000,
        window_end_ns=2_000_000_000 + window_ns,
        time=time,
        compute_busy_frac=(time.compute_only_ns + hidden + time.fused_ns) / window_ns if window_ns else None,
        device_active_frac=1 - time.idle_ns / window_ns if window_ns else None,
        overlap_frac=hidden / (hidden + exposed) if hidden + exposed else None,
        exposed_communication_max_ns=exposed + time.opaque_graph_ns,
        work_ns=window_ns,
        idle_gap_count=3,
        longest_idle_gap_ns=time.idle_ns // 2,
        idle_causes=causes,
    )


def device(device_id: str, gpu_times: GpuTimes, **changes: object) -> DeviceTimes:
    """The one device of a GPU: 2 s of the capture before its window, half a second after it."""
    times = DeviceTimes(
        id=device_id,
        report=0,
        gpu=gpu_times.id,
        pid=100,
        device_id=0,
        window_start_ns=gpu_times.window_start_ns,
        window_end_ns=gpu_times.window_end_ns,
        lead_idle_ns=2_000_000_000,
        trail_idle_ns=500_000_000,
        time=gpu_times.time,
        idle_gap_count=gpu_times.idle_gap_count,
        longest_idle_gap_ns=gpu_times.longest_idle_gap_ns,
        excluded_records={},
    )
    return replace(times, **changes)


def gpu_time(gpus: Sequence[GpuTimes], devices: Sequence[DeviceTimes] | None = None) -> GpuTime:
    """The result over these GPUs, with the job's shares computed from those that have a window."""
    if devices is None:
        devices = [device(device_id, entry) for entry in gpus for device_id in entry.devices]
    good = (Part.COMPUTE_ONLY, Part.OVERLAPPED, Part.FUSED)
    judged = [entry for entry in gpus if entry.time.window_ns]
    time = {
        part.value: _spread(judged, [entry.time.of(part) / entry.time.window_ns for entry in judged], low=part in good)
        for part in Part
    }
    busy = [entry.compute_busy_frac for entry in judged if entry.compute_busy_frac is not None]
    active = [entry.device_active_frac for entry in judged if entry.device_active_frac is not None]
    job = JobTimes(
        len(gpus), PartSpreads(**time), _spread(judged, busy, low=True), _spread(judged, active, low=True), None
    )
    return GpuTime(tuple(gpus), tuple(devices), job)


def _spread(gpus: Sequence[GpuTimes], shares: Sequence[float], *, low: bool = False) -> Spread:
    worst = min(shares) if low else max(shares)
    mean = sum(shares) / len(shares)
    return Spread(mean, worst, gpus[shares.index(worst)].id, max(shares) - min(shares))


# the causes of 100 and of 250 ms
FIRST_CAUSES = causes_of(data_loading=60, launch_starved=30, handover=10)
SECOND_CAUSES = causes_of(data_loading=200, launch_starved=50)
TWO_GPUS = gpu_time((gpu("gpu0", FIRST_TIME), gpu("gpu1", SECOND_TIME)))
EXPLAINED_GPUS = gpu_time(
    (gpu("gpu0", FIRST_TIME, causes=FIRST_CAUSES), gpu("gpu1", SECOND_TIME, causes=SECOND_CAUSES))
)
ONE_GPU = gpu_time((gpu("gpu0", FIRST_TIME),))
