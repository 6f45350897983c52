"""The large tables of an export as the tables of a Trace."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.ingest.nsys import tables
from nsysan.ingest.nsys.counters import read_counters
from nsysan.ingest.nsys.cpu_samples import read_cpu_samples
from nsysan.ingest.nsys.nccl_payloads import read_nccl_payloads
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.payload_texts import with_payload_texts
from nsysan.ingest.nsys.stored_records import read_apart, read_kernels, read_table
from nsysan.ingest.nsys.tables import DetailedRanges, NvtxPoints
from nsysan.model.arrays import Int64Array
from nsysan.model.columns import is_one_value
from nsysan.model.details import Detail
from nsysan.model.distinct import distinct
from nsysan.model.tables import (
    ABSENT,
    AnyTable,
    Copies,
    CounterSamples,
    CpuSamples,
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
    NvtxRanges,
    OsCalls,
    ProfilerOverheads,
    RuntimeCalls,
    SchedulingEvents,
    Synchronizations,
    Table,
)

_TIMES = ("start_ns", "end_ns")
_LATEST = int(np.iinfo(np.int64).max)


class Records(msgspec.Struct, frozen=True):
    """The records of an export by kind, each in the order of the file; None where the export has no table for them."""

    kernels: Kernels | None
    copies: Copies | None
    memsets: Memsets | None
    graph_launches: GraphLaunches | None
    runtime_calls: RuntimeCalls | None = None
    synchronizations: Synchronizations | None = None
    profiler_overheads: ProfilerOverheads | None = None
    os_calls: OsCalls | None = None
    scheduling_events: SchedulingEvents | None = None
    nvtx_ranges: NvtxRanges | None = None
    nvtx_range_details: NvtxDetails | None = None
    nvtx_points: NvtxPoints | None = None
    nccl_payloads: NcclPayloads | None = None
    kernel_shapes: KernelShapes | None = None
    kernel_dimensions: KernelDimensions | None = None
    memory_events: MemoryEvents | None = None
    gpu_page_faults: GpuPageFaults | None = None
    host_page_faults: HostPageFaults | None = None
    counter_samples: CounterSamples | None = None
    network_samples: NetworkSamples | None = None
    cpu_samples: CpuSamples | None = None
    gpu_switches: GpuSwitches | None = None

    def name_ids(self) -> Int64Array:
        """The ids that name a record, each once, in ascending order."""
        named = (
            self.kernels,
            self.runtime_calls,
            self.profiler_overheads,
            self.os_calls,
            self.nvtx_ranges,
            self.nvtx_points,
            self.cpu_samples,
        )
        ids = [table.name_id for table in named if table is not None]
        details = (self.nvtx_range_details, self.nvtx_points)
        bearing = (column for table in details if table is not None for column in (table.payload_id, table.json_id))
        ids += [column[column != ABSENT] for column in bearing]
        return distinct(np.concatenate([distinct(column) for column in ids])) if ids else np.empty(0, np.int64)

    def mostly_start_after(self, time_ns: int) -> bool:
        """Whether the middle of all times at which a record starts (the later of two) lies past that time."""
        timed = (self.kernels, self.copies, self.memsets, self.graph_launches, self.nvtx_ranges)
        starts_ns = [table.start_ns for table in timed if table is not None]
        until = sum(int(np.count_nonzero(column <= time_ns)) for column in starts_ns)
        return until <= sum(map(len, starts_ns)) // 2 and any(map(len, starts_ns))

    def moved_back(self, shift_ns: int) -> Records:
        """The records with their times counted from session start: without the shift that the exporter added."""
        if shift_ns == 0:
            return self
        kinds = {name: getattr(self, name) for name in self.__struct_fields__}
        return replace(self, **{name: _moved(table, shift_ns) for name, table in kinds.items() if table is not None})


def read_records(export: OpenExport, *, with_host: bool, details: Collection[Detail]) -> Records:
    """The records, their times as they are stored; those of the host only ``with_host``, others by ``details``."""
    kernels, shapes, dimensions = read_kernels(export, with_shapes=Detail.KERNEL_SHAPES in details)
    work = Records(
        kernels=kernels,
        copies=read_table(export, tables.COPIES),
        memsets=read_table(export, tables.MEMSETS),
        graph_launches=read_table(export, tables.GRAPH_LAUNCHES),
        kernel_shapes=shapes,
        kernel_dimensions=dimensions,
    )
    return _with_details(export, _with_host(export, work) if with_host else work, details)


def _with_host(export: OpenExport, work: Records) -> Records:
    # a mark or two among millions of ranges
    ranges, points = with_payload_texts(export, *read_apart(export, tables.NVTX_EVENTS, tables.NVTX_POINTS))
    return replace(
        work,
        runtime_calls=read_table(export, tables.RUNTIME_CALLS),
        synchronizations=read_table(export, tables.SYNCHRONIZATIONS),
        profiler_overheads=_joined(
            read_table(export, tables.PROFILER_OVERHEADS), read_table(export, tables.CUDA_OVERHEADS)
        ),
        os_calls=read_table(export, tables.OS_CALLS),
        scheduling_events=read_table(export, tables.SCHEDULING_EVENTS),
        nvtx_ranges=bare(ranges, NvtxRanges),
        nvtx_range_details=details_of(ranges),
        nvtx_points=bare(points, NvtxPoints),
        nccl_payloads=read_nccl_payloads(export, ranges, points),
    )


def _with_details(export: OpenExport, records: Records, details: Collection[Detail]) -> Records:
    if Detail.MEMORY in details:
        records = replace(
            records,
            memory_events=read_table(export, tables.MEMORY_EVENTS),
            gpu_page_faults=read_table(export, tables.GPU_PAGE_FAULTS),
            host_page_faults=read_table(export, tables.HOST_PAGE_FAULTS),
        )
    if Detail.COUNTERS in details:
        network = read_table(export, tables.NETWORK_SAMPLES)
        records = replace(records, counter_samples=read_counters(export), network_samples=network)
    if Detail.CPU_SAMPLES in details:
        records = replace(records, cpu_samples=read_cpu_samples(export))
    if Detail.GPU_SWITCHES in details:
        records = replace(records, gpu_switches=read_table(export, tables.GPU_SWITCHES))
    return records


def unshifted(times_ns: Int64Array, shift_ns: int) -> Int64Array:
    """``times_ns - shift_ns``, at the end of the range where that leaves it; ``ABSENT`` stays what it is.

    A time that is impossible because it was never taken (CUPTI writes 2^63) so stays impossible.
    """
    if shift_ns == 0:
        return times_ns
    earliest, latest = max(ABSENT + 1, ABSENT + 1 + shift_ns), min(_LATEST, _LATEST + shift_ns)
    moved = np.clip(times_ns, earliest, latest) - shift_ns
    return np.where(times_ns == ABSENT, ABSENT, moved)


def bare(table: Table | None, kind: type[AnyTable]) -> AnyTable | None:
    """The columns that every such record has."""
    return None if table is None else kind(**{name: getattr(table, name) for name in kind.__struct_fields__})


def details_of(table: DetailedRanges | NvtxPoints | None) -> NvtxDetails | None:
    """What single records bear besides; most bear nothing, and have no row."""
    if table is None:
        return None
    columns = {name: getattr(table, name) for name in ("category_id", "payload", "payload_id", "json_id")}
    told = [column for column in columns.values() if not is_one_value(column) or (len(column) and column[0] != ABSENT)]
    rows = np.flatnonzero(np.any([column != ABSENT for column in told], axis=0)) if told else np.empty(0, np.int64)
    return NvtxDetails(row=rows, **{name: column[rows] for name, column in columns.items()})


def _joined(*tables_of_kind: AnyTable | None) -> AnyTable | None:
    """The records of those tables that are there, as one."""
    present = [table for table in tables_of_kind if table is not None]
    return type(present[0]).concatenate(present) if present else None


def _moved(table: AnyTable, shift_ns: int) -> AnyTable:
    times = {name: unshifted(column, shift_ns) for name, column in table.columns().items() if name in _TIMES}
    return replace(table, **times)
