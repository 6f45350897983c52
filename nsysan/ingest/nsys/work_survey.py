"""How much GPU work an export holds, by process and device, and from when to when."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from nsysan.ingest.counts import GpuWork
from nsysan.ingest.nsys import tables
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.source import StoredTable
from nsysan.model.tables import ABSENT
from nsysan.model.trace import IMPOSSIBLE_NS

_KINDS = (tables.KERNELS, tables.COPIES, tables.MEMSETS, tables.GRAPH_LAUNCHES)
_NEEDED = {"start", "end", "globalPid", "deviceId"}
_LATEST = -(ABSENT + 1)


def median_start_ns(connection: sqlite3.Connection, export: OpenExport) -> int | None:
    """The middle of all times at which a record starts (the later of two), None where there are no records."""
    timed = [table for kind in (*_KINDS, tables.NVTX_EVENTS) if (table := export.table(kind.names)) is not None]
    starts = " UNION ALL ".join(
        f"SELECT start FROM \"{table.name}\" WHERE typeof(start) = 'integer'"  # noqa: S608 -- declared names
        for table in timed
        if "start" in table.columns
    )
    if not starts:
        return None
    middle = f"SELECT count(*) / 2 FROM ({starts})"  # noqa: S608 -- declared names
    row = connection.execute(f"SELECT start FROM ({starts}) ORDER BY start LIMIT 1 OFFSET ({middle})").fetchone()  # noqa: S608 -- declared names
    return None if row is None else int(row[0])


def early_start_ns(connection: sqlite3.Connection, export: OpenExport) -> int | None:
    """The time at which one of the first records starts: tells about when all are, without looking at them."""
    timed = (export.table(kind.names) for kind in (*_KINDS, tables.NVTX_EVENTS))
    for table in timed:
        if table is not None and "start" in table.columns:
            query = f"SELECT start FROM \"{table.name}\" WHERE typeof(start) = 'integer' LIMIT 1"  # noqa: S608 -- declared names
            row = connection.execute(query).fetchone()
            if row is not None:
                return int(row[0])
    return None


def count_gpu_work(
    connection: sqlite3.Connection, export: OpenExport, time_shift_ns: int
) -> dict[tuple[int, int], GpuWork]:
    """The work by (global pid, device id), over all kinds of records; rows without either are left out.

    Times that cannot be are not among the span: those of the faults that ``analyze`` excludes records for.
    """
    found: dict[tuple[int, int], GpuWork] = {}
    for kind in _KINDS:
        table = export.table(kind.names)
        if table is None or not table.columns >= _NEEDED:
            continue
        for owner, work in _work_in(connection, table, time_shift_ns):
            found[owner] = found[owner].with_more(work) if owner in found else work
    return found


def holds_timed_work(connection: sqlite3.Connection, table: StoredTable, time_shift_ns: int) -> bool:
    """Whether a row of the table, which is one of GPU work, has an owner and a time that can be."""
    if not table.columns >= _NEEDED:
        return False
    query = (
        f'SELECT EXISTS (SELECT 1 FROM "{table.name}" WHERE {_soundness(time_shift_ns)} '  # noqa: S608 -- declared names
        "AND typeof(globalPid) = 'integer' AND typeof(deviceId) = 'integer')"
    )
    (found,) = connection.execute(query).fetchone()
    return bool(found)


def _work_in(
    connection: sqlite3.Connection, table: StoredTable, shift_ns: int
) -> Iterator[tuple[tuple[int, int], GpuWork]]:
    sound = _soundness(shift_ns)
    query = (
        f"SELECT globalPid, deviceId, count(*), min(CASE WHEN {sound} THEN start END), "  # noqa: S608 -- declared names
        f'max(CASE WHEN {sound} THEN "end" END) FROM "{table.name}" '
        "WHERE typeof(globalPid) = 'integer' AND typeof(deviceId) = 'integer' GROUP BY globalPid, deviceId"
    )
    for global_pid, device_id, count, start, end in connection.execute(query):
        times = (None, None) if start is None else (max(start - shift_ns, 0), end - shift_ns)
        yield (global_pid, device_id), GpuWork(count, *times)


def _soundness(shift_ns: int) -> str:
    """What makes a row's times possible: in order, not both 0, within ten days of session start, not over before it."""
    earliest, latest = max(shift_ns - IMPOSSIBLE_NS, ABSENT), min(shift_ns + IMPOSSIBLE_NS, _LATEST)
    return (
        "(typeof(start) = 'integer' AND typeof(\"end\") = 'integer' AND \"end\" >= start "
        f'AND NOT (start = {shift_ns} AND "end" = {shift_ns}) AND start >= {earliest} AND "end" <= {latest} '
        f'AND NOT ("end" <= {shift_ns} AND start < {shift_ns}))'
    )
