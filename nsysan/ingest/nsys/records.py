"""The large tables of an export as the tables of a Trace."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from nsysan.ingest.nsys import tables
from nsysan.ingest.nsys.nccl_payloads import read_nccl_payloads
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import DetailedRanges, NvtxPoints, RecordTable
from nsysan.model.distinct import distinct
from nsysan.model.tables import (
    ABSENT,
    AnyTable,
    Copies,
    GraphLaunches,
    Int64Array,
    Kernels,
    Memsets,
    NcclPayloads,
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


@dataclass(frozen=True, slots=True)
class Records:
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

    def name_ids(self) -> Int64Array:
        """The ids that name a record, each once, in ascending order."""
        named = (
            self.kernels,
            self.runtime_calls,
            self.profiler_overheads,
            self.os_calls,
            self.nvtx_ranges,
            self.nvtx_points,
        )
        ids = [table.name_id for table in named if table is not None]
        details = (self.nvtx_range_details, self.nvtx_points)
        ids += [table.json_id[table.json_id != ABSENT] for table in details if table is not None]
        return distinct(np.concatenate([distinct(column) for column in ids])) if ids else np.empty(0, np.int64)

    def median_start_ns(self) -> int | None:
        """The middle of all times at which a record starts (the later of two), None where there are no records."""
        timed = (self.kernels, self.copies, self.memsets, self.graph_launches, self.nvtx_ranges)
        starts_ns = np.concatenate([np.empty(0, np.int64), *(table.start_ns for table in timed if table is not None)])
        middle = len(starts_ns) // 2
        return int(np.partition(starts_ns, middle)[middle]) if len(starts_ns) else None

    def moved_back(self, shift_ns: int) -> Records:
        """The records with their times counted from session start: without the shift that the exporter added."""
        if shift_ns == 0:
            return self
        kinds = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: _moved(table, shift_ns) for name, table in kinds.items() if table is not None})


def read_records(export: OpenExport, *, with_host: bool) -> Records:
    """The records, their times as they are stored; those of the host only ``with_host``."""
    work = Records(
        kernels=_read(export, tables.KERNELS),
        copies=_read(export, tables.COPIES),
        memsets=_read(export, tables.MEMSETS),
        graph_launches=_read(export, tables.GRAPH_LAUNCHES),
    )
    if not with_host:
        return work
    ranges = _read(export, tables.NVTX_RANGES)
    return replace(
        work,
        runtime_calls=_read(export, tables.RUNTIME_CALLS),
        synchronizations=_read(export, tables.SYNCHRONIZATIONS),
        profiler_overheads=_joined(_read(export, tables.PROFILER_OVERHEADS), _read(export, tables.CUDA_OVERHEADS)),
        os_calls=_read(export, tables.OS_CALLS),
        scheduling_events=_read(export, tables.SCHEDULING_EVENTS),
        nvtx_ranges=bare(ranges, NvtxRanges),
        nvtx_range_details=details_of(ranges),
        nvtx_points=_read(export, tables.NVTX_POINTS),
        nccl_payloads=read_nccl_payloads(export),
    )


def unshifted(times_ns: Int64Array, shift_ns: int) -> Int64Array:
    """``times_ns - shift_ns``, at the end of the range where that leaves it; ``ABSENT`` stays what it is.

    A time that is impossible because it was never taken (CUPTI writes 2^63) so stays impossible.
    """
    if shift_ns == 0:
        return times_ns
    earliest, latest = max(ABSENT + 1, ABSENT + 1 + shift_ns), min(_LATEST, _LATEST + shift_ns)
    moved = np.clip(times_ns, earliest, latest) - shift_ns
    return np.where(times_ns == ABSENT, ABSENT, moved)


def _read(export: OpenExport, kind: RecordTable[AnyTable]) -> AnyTable | None:
    table = export.table(kind.names)
    if table is None:
        return None
    read = export.source.read_columns(table, kind.columns, kind.scope)
    # two kinds may lie in one table, and both miss the rows that could be either
    export.unreadable_records[table.name] = max(export.unreadable_records[table.name], read.unreadable_count)
    return None if read.arrays is None else kind.record(**read.arrays)


def bare(table: Table | None, kind: type[AnyTable]) -> AnyTable | None:
    """The columns that every such record has."""
    return None if table is None else kind(**{field.name: getattr(table, field.name) for field in fields(kind)})


def details_of(table: DetailedRanges | NvtxPoints | None) -> NvtxDetails | None:
    """What single records bear besides; most bear nothing, and have no row."""
    if table is None:
        return None
    columns = {name: getattr(table, name) for name in ("category_id", "payload", "json_id")}
    rows = np.flatnonzero(np.any([column != ABSENT for column in columns.values()], axis=0))
    return NvtxDetails(row=rows, **{name: column[rows] for name, column in columns.items()})


def _joined(*tables_of_kind: AnyTable | None) -> AnyTable | None:
    """The records of those tables that are there, as one."""
    present = [table for table in tables_of_kind if table is not None]
    return type(present[0]).concatenate(present) if present else None


def _moved(table: AnyTable, shift_ns: int) -> AnyTable:
    times = {name: unshifted(column, shift_ns) for name, column in table.columns().items() if name in _TIMES}
    return replace(table, **times)
