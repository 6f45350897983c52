"""Where every nanosecond of every GPU went: the partition, per physical GPU, per device and over the job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nsysan.model.partition import PartTimes


@dataclass(frozen=True, slots=True)
class GpuTimes:
    """A physical GPU or MIG instance: the partition of the union over all processes that used it.

    ``compute_busy_frac`` = |C + F| / window. ``device_active_frac`` = 1 - idle / window, what nvidia-smi would
    call utilisation. ``overlap_frac`` = a / (a + exposed_communication) with a = |(C & N) - F|, null when 0/0.
    ``exposed_communication_max_ns`` = |N - (C + F)|: more than the part where communication ran beside an opaque
    graph. ``work_ns`` sums the activities' durations inside the window, overlaps counted repeatedly: a volume, no time.
    """

    id: str
    name: str | None
    uuid: str | None
    devices: tuple[str, ...]
    window_start_ns: int
    window_end_ns: int
    time: PartTimes
    compute_busy_frac: float | None
    device_active_frac: float | None
    overlap_frac: float | None
    exposed_communication_max_ns: int
    work_ns: int
    idle_gap_count: int
    longest_idle_gap_ns: int


@dataclass(frozen=True, slots=True)
class DeviceTimes:
    """A GPU as one process saw it; ``report`` is an index into ``reports``, ``gpu`` an id of ``gpus``.

    ``lead_idle_ns`` and ``trail_idle_ns`` are the capture before and after the window, null where the capture's
    length is unknown. ``excluded_records`` counts records that were left out, by why.
    """

    id: str
    report: int
    gpu: str
    pid: int
    device_id: int
    window_start_ns: int
    window_end_ns: int
    lead_idle_ns: int
    trail_idle_ns: int | None
    time: PartTimes
    idle_gap_count: int
    longest_idle_gap_ns: int
    excluded_records: dict[str, int]


@dataclass(frozen=True, slots=True)
class Spread:
    """A share of the window over all GPUs; ``worst_gpu`` has the ``worst``, ``spread`` = largest - smallest."""

    mean_frac: float
    worst_frac: float
    worst_gpu: str
    spread_frac: float


@dataclass(frozen=True, slots=True)
class JobTimes:
    """The same parts over all GPUs, as shares of each GPU's window.

    Worst is the smallest share of ``compute_only``, ``overlapped``, ``fused`` and the two busy fractions, and the
    largest of the others.
    """

    gpu_count: int
    time: dict[str, Spread]
    compute_busy_frac: Spread
    device_active_frac: Spread


@dataclass(frozen=True, slots=True)
class GpuTime:
    """The partition of every GPU and device, and over the job."""

    id: ClassVar[str] = "gpu_time"

    gpus: tuple[GpuTimes, ...]
    devices: tuple[DeviceTimes, ...]
    job: JobTimes
