"""What one report holds, whatever its format: the tables that were recorded, and who recorded them where."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from nsysan.model.arrays import BoolArray
from nsysan.model.profilers import Profiler
from nsysan.model.software import Software
from nsysan.model.tables import (
    ABSENT,
    AllocatorStates,
    CollectiveCalls,
    Copies,
    CounterSamples,
    CpuSamples,
    GpuActivities,
    GpuPageFaults,
    GpuSwitches,
    GraphLaunches,
    HostPageFaults,
    KernelDimensions,
    Kernels,
    KernelShapes,
    MemoryEvents,
    Memsets,
    NcclPayloads,
    NetworkSamples,
    NvtxDetails,
    NvtxMarks,
    NvtxRanges,
    OsCalls,
    ProfilerOverheads,
    RuntimeCalls,
    SchedulingEvents,
    Synchronizations,
)
from nsysan.model.units import NS_PER_S

PID_SHIFT = 24
PID_MASK = 0xFFFFFF
PROCESS_BITS = ~((1 << PID_SHIFT) - 1)
"""What a serialized global tid shares with the global pid of its process."""

IMPOSSIBLE_NS = 10 * 86_400 * NS_PER_S
"""Ten days: no capture is as long, so a time further from session start is damage (CUPTI writes 2^63 for unknown)."""

IMPOSSIBLE_BYTES = 1 << 44
"""16 TiB: more than any memory of a GPU or copy into it; a larger size is damage."""


def process_of(global_id: int) -> int | None:
    """The process id inside a serialized global pid or tid (bits 24 to 47), None where that is ``ABSENT``."""
    return None if global_id == ABSENT else (global_id >> PID_SHIFT) & PID_MASK


def is_timed(work: GpuActivities) -> BoolArray:
    """Which records have times that can be: the others say nothing about when there was work."""
    start_ns, end_ns = work.start_ns, work.end_ns
    if start_ns.min(initial=1) > 0 and end_ns.max(initial=1) <= IMPOSSIBLE_NS:
        # as it is in all but damaged reports, and quickly seen
        ordered: BoolArray = end_ns >= start_ns
        return ordered
    never = ((start_ns == 0) & (end_ns == 0)) | ((end_ns <= 0) & (start_ns < 0))
    timed: BoolArray = (end_ns >= start_ns) & (start_ns >= -IMPOSSIBLE_NS) & (end_ns <= IMPOSSIBLE_NS) & ~never
    return timed


class RankSource(str, Enum):
    """What tells which rank of the job something is of, from the surest on."""

    USER = "user"
    COMMUNICATOR = "communicator"
    PROFILER = "profiler"
    MPI = "mpi"
    ENVIRONMENT = "environment"
    FILE_NAME = "file_name"
    DEVICE_ORDER = "device_order"


class Fingerprint(msgspec.Struct, frozen=True):
    """Which content was read: its size, the hash of its first and last MiB, and of all of it where asked for."""

    size_bytes: int
    head_tail_sha256: str
    sha256: str | None


class CaptureIdentity(msgspec.Struct, frozen=True):
    """What names people and machines; it leaves nsysan only with ``--keep-identity``."""

    host: str | None
    user: str | None
    command_line: str | None
    path: str


class PhysicalGpu(msgspec.Struct, frozen=True):
    """A GPU of the machine (TARGET_INFO_GPU); graphics adapters without SMs are left out."""

    gpu_id: int
    name: str | None
    uuid: str | None
    bus_location: str | None
    sm_count: int | None
    memory_bytes: int | None
    memory_bandwidth_bytes_per_s: int | None
    capability: tuple[int, int] | None = None
    """The compute capability."""
    sm_clock_hz: int | None = None
    """The highest clock of its multiprocessors."""


class CudaDevice(msgspec.Struct, frozen=True):
    """Which GPU a process saw under a CUDA ordinal (TARGET_INFO_CUDA_DEVICE)."""

    pid: int | None
    device_id: int
    gpu_id: int | None
    uuid: str | None
    sm_count: int | None


class SmLimits(msgspec.Struct, frozen=True):
    """What a multiprocessor of a GPU holds at once (TARGET_INFO_GPU), and the first part of its compute capability."""

    compute_major: int
    threads_per_warp: int
    warp_count: int
    block_count: int
    register_count: int
    shared_bytes: int


class NetworkMetric(msgspec.Struct, frozen=True):
    """What a counter of network adapters is called, and in which unit its values are, such as ``bytes/ms``."""

    name: str
    unit: str


class ProcessGroup(msgspec.Struct, frozen=True):
    """Ranks that communicate with each other, as PyTorch counts them.

    ``size`` is null where it was not told, ``ranks`` is empty where they were not listed: newer releases of PyTorch
    list none of a group that has all ranks of the job.
    """

    name: str
    description: str
    size: int | None
    ranks: tuple[int, ...]


GPU_TABLES = ("kernels", "copies", "memsets", "graph_launches")
"""The fields of a Trace that hold GPU work."""


class Trace(msgspec.Struct, frozen=True):
    """One report. A table is None where the report does not hold it: absent is not empty."""

    name: str
    reader: str
    profiler: Profiler
    """What recorded it."""
    fingerprint: Fingerprint
    identity: CaptureIdentity
    nsys_version: str | None
    export_schema: str | None
    capture_ns: int | None
    session_start_utc_ns: int | None
    gpus: tuple[PhysicalGpu, ...]
    cuda_devices: tuple[CudaDevice, ...]
    strings: Mapping[int, str]
    kernels: Kernels | None
    copies: Copies | None
    memsets: Memsets | None
    graph_launches: GraphLaunches | None
    nvtx_ranges: NvtxRanges | None
    nvtx_domains: Mapping[tuple[int, int], str]
    """Domain name by (global pid, domain id); domain ids are unique per process only."""
    unreadable_records: Mapping[str, int]
    """Rows per source table left out because a needed value was no integer."""
    runtime_calls: RuntimeCalls | None = None
    collective_calls: CollectiveCalls | None = None
    nccl_payloads: NcclPayloads | None = None
    nvtx_marks: NvtxMarks | None = None
    nvtx_range_details: NvtxDetails | None = None
    nvtx_mark_details: NvtxDetails | None = None
    nvtx_categories: Mapping[tuple[int, int, int], str] = msgspec.field(default_factory=dict)
    """Category name by (global pid, domain id, category id)."""
    profiler_overheads: ProfilerOverheads | None = None
    synchronizations: Synchronizations | None = None
    os_calls: OsCalls | None = None
    scheduling_events: SchedulingEvents | None = None
    kernel_shapes: KernelShapes | None = None
    kernel_dimensions: KernelDimensions | None = None
    """Row by row of the same kernels as ``kernels``."""
    memory_events: MemoryEvents | None = None
    allocator_states: AllocatorStates | None = None
    gpu_page_faults: GpuPageFaults | None = None
    host_page_faults: HostPageFaults | None = None
    counter_samples: CounterSamples | None = None
    network_samples: NetworkSamples | None = None
    cpu_samples: CpuSamples | None = None
    gpu_switches: GpuSwitches | None = None
    sm_limits: Mapping[int, SmLimits] = msgspec.field(default_factory=dict)
    """By the machine's id of the GPU."""
    network_metrics: Mapping[tuple[int, int], NetworkMetric] = msgspec.field(default_factory=dict)
    """By list and metric id."""
    network_adapters: Mapping[int, str] = msgspec.field(default_factory=dict)
    """The name of each adapter, by the id that its samples have."""
    runs_mps: bool | None = None
    """Whether a server of CUDA's Multi-Process Service is among the processes, None where these are not told."""
    rank: int | None = None
    rank_source: RankSource | None = None
    world_size: int | None = None
    mpi_ranks: Mapping[int, int] = msgspec.field(default_factory=dict)
    """The rank of each process that MPI told, by global pid."""
    process_groups: tuple[ProcessGroup, ...] = ()
    ambiguous_name_count: int = 0
    """Ids of names for which the report has several texts; the first is in ``strings``."""
    unreadable_work: Mapping[str, int] = msgspec.field(default_factory=dict)
    """The part of ``unreadable_records`` that is GPU work, by the name in ``GPU_TABLES``."""
    software: Software = msgspec.field(default_factory=Software)

    def gpu_tables(self) -> dict[str, GpuActivities]:
        """The tables of GPU work that were recorded, by field name, in a fixed order."""
        tables = {name: getattr(self, name) for name in GPU_TABLES}
        return {name: table for name, table in tables.items() if table is not None}

    def text(self, string_id: int) -> str:
        """The string behind an id, or ``<unknown:ID>`` where the report lost it."""
        return self.strings.get(string_id, f"<unknown:{string_id}>")
