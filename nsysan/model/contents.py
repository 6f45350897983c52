"""What a report holds, told without reading its records: the answer of ``nsysan info``.

Every text is safe to show. A figure that the report does not tell is None, never 0.
"""

from __future__ import annotations

import msgspec

from nsysan.model.profilers import Profiler
from nsysan.model.trace import CaptureIdentity, CudaDevice, PhysicalGpu, ProcessGroup


class TableRows(msgspec.Struct, frozen=True):
    """A table of the report; ``row_count`` is None where its rows are not stored but would be made up on the spot."""

    name: str
    row_count: int | None


class ProcessWork(msgspec.Struct, frozen=True):
    """A process with GPU work or NVTX ranges. ``name`` is a path often, and None unless identity is kept."""

    pid: int | None
    name: str | None
    gpu_record_count: int
    nvtx_range_count: int


class DeviceWork(msgspec.Struct, frozen=True):
    """The GPU work of one process on one CUDA device, from its first begin to its last end in session time.

    ``start_ns`` and ``end_ns`` are None where no record has a time that can be.
    """

    pid: int | None
    device_id: int
    record_count: int
    start_ns: int | None
    end_ns: int | None


class NamedCount(msgspec.Struct, frozen=True):
    """How many there are of one name."""

    name: str
    count: int


class NvtxContents(msgspec.Struct, frozen=True):
    """The ranges by domain, and the most frequent names; the default domain is called ``default``."""

    range_count: int
    domains: tuple[NamedCount, ...]
    frequent_names: tuple[NamedCount, ...]


class Communicators(msgspec.Struct, frozen=True):
    """What rows tell of communication: ranks and communicator sizes from MPI's, and how many ranges are of NCCL.

    Those are the ranges of its domain, or, where no domain has its name, those named as its calls are. Of PyTorch's
    profiler come the process groups this rank is in, and how many calls of collectives it recorded.
    """

    mpi_ranks: tuple[int, ...] = ()
    mpi_sizes: tuple[int, ...] = ()
    nccl_range_count: int = 0
    process_groups: tuple[ProcessGroup, ...] = ()
    collective_call_count: int = 0


class OpenQuestion(msgspec.Struct, frozen=True):
    """A question that the report cannot answer, what it lacks for it, and what to record or export for an answer."""

    id: str
    question: str
    reason: str
    recapture: str


class Contents(msgspec.Struct, frozen=True):
    """One report. What names people, machines and paths is None unless identity is kept, ``rank`` where none is told.

    ``process_count`` counts the processes nsys saw, ``processes`` are those that did something that was recorded.
    ``nvtx`` and ``communicators`` are None where nothing of the kind was recorded.

    A large export is counted only where that is asked for: else ``processes`` and ``devices`` are None as well as all
    that takes a scan, rows are told by the number of the last one, and ``undecided_questions`` are those whose evidence
    may lie anywhere.
    """

    nsysan_version: str
    name: str
    reader: str
    profiler: Profiler
    size_bytes: int
    nsys_version: str | None
    export_schema: str | None
    capture_ns: int | None
    session_start_utc_ns: str | None
    """Nanoseconds since 1970 as digits: they do not fit the numbers of JavaScript."""
    host_count: int | None
    hosts: tuple[str, ...] | None
    identity: CaptureIdentity | None
    process_count: int | None
    processes: tuple[ProcessWork, ...] | None
    gpus: tuple[PhysicalGpu, ...]
    cuda_devices: tuple[CudaDevice, ...]
    devices: tuple[DeviceWork, ...] | None
    work_start_ns: int | None
    work_end_ns: int | None
    nvtx: NvtxContents | None
    rank: int | None
    world_size: int | None
    communicators: Communicators | None
    tables: tuple[TableRows, ...]
    open_questions: tuple[OpenQuestion, ...]
    undecided_questions: tuple[str, ...] = ()

    @property
    def is_counted(self) -> bool:
        """Whether everything was counted."""
        return self.devices is not None


class ReaderAtHand(msgspec.Struct, frozen=True):
    """A reader; ``missing_modules`` names what it imports and this Python lacks."""

    id: str
    missing_modules: tuple[str, ...]


class NsysAtHand(msgspec.Struct, frozen=True):
    """An nsys on this machine; ``fault`` says why it cannot be used, where it cannot."""

    executable: str
    version: str | None
    fault: str | None


class ExtraAtHand(msgspec.Struct, frozen=True):
    """Packages that an extra of nsysan installs, with their versions; null where one is not installed."""

    id: str
    packages: dict[str, str | None]


class Installation(msgspec.Struct, frozen=True):
    """What this nsysan can work with: the answer of ``nsysan info --self``.

    ``has_column_module`` says whether the compiled module reads SQLite columns, which is faster and changes no result.
    ``has_nvidia_smi`` says whether that program is there, as where there is a GPU; no driver is asked.
    """

    nsysan_version: str
    python_version: str
    platform: str
    core_count: int
    readers: tuple[ReaderAtHand, ...]
    has_column_module: bool
    extras: tuple[ExtraAtHand, ...]
    nsys: tuple[NsysAtHand, ...]
    has_nvidia_smi: bool
