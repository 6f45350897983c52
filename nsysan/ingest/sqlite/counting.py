"""How many rows the tables of a database have, and whether they hold certain values, without reading them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from nsysan.ingest.source import StoredTable
from nsysan.ingest.sqlite.tables import tables_among

_INTERNAL = "sqlite_"
"""How the names of tables begin that SQLite keeps for itself."""
_UNDECODABLE = "\ufffd"
"""In names that were no UTF-8: no query can spell them."""


def row_counts(connection: sqlite3.Connection) -> dict[str, int | None]:
    """The rows of every table and view, by name in order; None where they are computed, not stored."""
    found = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    return {
        name: _row_count(connection, name) if rootpage and _UNDECODABLE not in name else None
        for name, rootpage in found.fetchall()
        if not name.startswith(_INTERNAL)
    }


def stored_among(connection: sqlite3.Connection, names: Iterable[str]) -> Mapping[str, StoredTable]:
    """Those of ``names`` that the database has as a table whose rows are stored."""
    return {name: table for name, table in tables_among(connection, names).items() if table.is_stored}


def has_rows(connection: sqlite3.Connection, table: StoredTable, column: str | None, like: str | None) -> bool:
    """Whether a row has a value in ``column``, neither empty nor 0, that fits ``like``; any row where None is given."""
    condition = "TRUE" if column is None else f"\"{column}\" NOT IN (0, '')"
    condition += "" if like is None else f' AND CAST("{column}" AS TEXT) LIKE ?'
    query = f'SELECT EXISTS (SELECT 1 FROM "{table.name}" WHERE {condition})'  # noqa: S608 -- names nsysan declares
    (found,) = connection.execute(query, [] if like is None else [like]).fetchone()
    return bool(found)


def _row_count(connection: sqlite3.Connection, name: str) -> int:
    quoted = name.replace('"', '""')
    (count,) = connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()  # noqa: S608 -- quoted
    return int(count)
