"""How many NVTX ranges an export holds, by domain and by name."""

from __future__ import annotations

import sqlite3
from collections import Counter

from nsysan.ingest.columns import Scope
from nsysan.ingest.counts import NAME_COUNT
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import DOMAIN_NAMES, NVTX_EVENTS, NVTX_RANGES, STRINGS
from nsysan.ingest.source import StoredTable, Value, integer, text
from nsysan.model.tables import ABSENT
from nsysan.model.text import display_text
from nsysan.model.trace import PROCESS_BITS

_UNNAMED = "<no name>"


def count_ranges(connection: sqlite3.Connection, export: OpenExport) -> dict[tuple[int, int], int]:
    """The ranges by (global pid, domain id); a row without thread is of process ABSENT, one without domain of 0."""
    table = _table(export)
    if table is None:
        return {}
    query = f"SELECT {_place(table)}, count(*) FROM {_rows(export, table, NVTX_RANGES)} GROUP BY 1, 2"  # noqa: S608 -- declared names
    counts = Counter[tuple[int, int]]()
    for global_tid, domain_id, count in connection.execute(query):
        counts[_domain_of(global_tid, domain_id)] += count
    return counts


def domain_names(connection: sqlite3.Connection, export: OpenExport) -> dict[tuple[int, int], str]:
    """The names of domains by (global pid, domain id), safe to show."""
    table = _table(export)
    if table is None:
        return {}
    query = f"SELECT {_place(table)}, {_name(export, table)} FROM {_rows(export, table, DOMAIN_NAMES)}"  # noqa: S608 -- declared names
    return {
        _domain_of(global_tid, domain_id): _shown(name) for global_tid, domain_id, name in connection.execute(query)
    }


def frequent_names(connection: sqlite3.Connection, export: OpenExport) -> dict[str, int]:
    """The most frequent names of ranges, safe to show, and how many there are."""
    table = _table(export)
    if table is None:
        return {}
    query = (
        f"SELECT {_name(export, table)}, count(*) FROM {_rows(export, table, NVTX_RANGES)} "  # noqa: S608 -- declared names
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {NAME_COUNT}"
    )
    counts: dict[str, int] = {}
    for name, count in connection.execute(query):
        counts[_shown(name)] = counts.get(_shown(name), 0) + count
    return counts


def nccl_range_count(connection: sqlite3.Connection, export: OpenExport) -> int:
    """The ranges that are named as NCCL names its calls, in whatever domain: exports lose the names of domains."""
    table = _table(export)
    if table is None:
        return 0
    query = (
        f"SELECT count(*) FROM {_rows(export, table, NVTX_RANGES)} "  # noqa: S608 -- declared names
        f"AND {_name(export, table)} GLOB 'nccl[A-Z]*'"
    )
    (count,) = connection.execute(query).fetchone()
    return int(count)


def _table(export: OpenExport) -> StoredTable | None:
    table = export.table(NVTX_EVENTS.names)
    return table if table is not None and "eventType" in table.columns else None


def _place(table: StoredTable) -> str:
    """Thread and domain, as they are: SQLite groups by plain columns in half the time that arithmetic takes."""
    return ", ".join(f"events.{name}" if name in table.columns else "NULL" for name in ("globalTid", "domainId"))


def _domain_of(global_tid: Value, domain_id: Value) -> tuple[int, int]:
    thread = integer(global_tid)
    return ABSENT if thread is None else thread & PROCESS_BITS, integer(domain_id) or 0


def _rows(export: OpenExport, table: StoredTable, scope: Scope) -> str:
    """What follows FROM: the rows in the scope, each with the string that its id stands for."""
    # an id that is there twice has its first text, and does not double the rows
    strings = f"(SELECT id, value, min(rowid) FROM {STRINGS} GROUP BY id)"  # noqa: S608 -- declared names
    joined = f"LEFT JOIN {strings} AS strings ON strings.id = events.textId" if _has_ids(export, table) else ""
    types = ", ".join(map(str, scope.values))
    return f'"{table.name}" AS events {joined} WHERE events.eventType IN ({types})'


def _name(export: OpenExport, table: StoredTable) -> str:
    inline = "events.text" if "text" in table.columns else "NULL"
    return f"COALESCE({inline}, {'strings.value' if _has_ids(export, table) else 'NULL'})"


def _has_ids(export: OpenExport, table: StoredTable) -> bool:
    strings = export.tables.get(STRINGS)
    return "textId" in table.columns and strings is not None and {"id", "value"} <= strings.columns


def _shown(name: Value) -> str:
    return display_text(text(name) or _UNNAMED)
