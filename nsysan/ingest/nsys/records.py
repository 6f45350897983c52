"""The large tables of an export as the tables of a Trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsysan.ingest.nsys import tables
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import NvtxDomains, RecordTable
from nsysan.ingest.sqlite.columns import read_columns
from nsysan.model.tables import (
    ABSENT,
    AnyTable,
    Copies,
    GraphLaunches,
    Int64Array,
    Kernels,
    Memsets,
    NvtxRanges,
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
    nvtx_ranges: NvtxRanges | None
    nvtx_domains: NvtxDomains | None

    def name_ids(self) -> Int64Array:
        """The ids that name a record, each once, in ascending order."""
        named = (self.kernels, self.nvtx_ranges, self.nvtx_domains)
        ids = [table.name_id for table in named if table is not None]
        return np.unique(np.concatenate([np.empty(0, np.int64), *ids]))


def read_records(export: OpenExport, time_shift_ns: int) -> Records:
    """All records, their times counted from session start by taking off the shift that the exporter added."""
    return Records(
        kernels=_read(export, tables.KERNELS, time_shift_ns),
        copies=_read(export, tables.COPIES, time_shift_ns),
        memsets=_read(export, tables.MEMSETS, time_shift_ns),
        graph_launches=_read(export, tables.GRAPH_LAUNCHES, time_shift_ns),
        nvtx_ranges=_read(export, tables.NVTX_RANGES, time_shift_ns),
        nvtx_domains=_read(export, tables.NVTX_DOMAINS, time_shift_ns),
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


def _read(export: OpenExport, kind: RecordTable[AnyTable], time_shift_ns: int) -> AnyTable | None:
    table = export.table(kind.names)
    if table is None:
        return None
    read = read_columns(export.connection, table, kind.columns, kind.scope)
    # two kinds may lie in one table, and both miss the rows that could be either
    export.unreadable_records[table.name] = max(export.unreadable_records[table.name], read.unreadable_count)
    if read.arrays is None:
        return None
    times = {name: unshifted(read.arrays[name], time_shift_ns) for name in _TIMES if name in read.arrays}
    return kind.record(**read.arrays | times)
