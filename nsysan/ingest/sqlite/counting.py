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


FEW_ROWS = 20_000
"""So many rows of a table are counted and looked through whatever its size."""


def database_bytes(connection: sqlite3.Connection) -> int:
    """The size of the database."""
    (pages,), (page_bytes,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages) * int(page_bytes)


def row_counts(connection: sqlite3.Connection, *, is_full: bool = True) -> dict[str, int | None]:
    """The rows of every table and view, by name in order; None where they are computed, not stored.

    Unless ``is_full`` the number of a large table's last row is given, for nsys counts rows from 1 and removes none;
    None where the numbers mean something else.
    """
    found = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    return {
        name: _rows_of(connection, name, is_full=is_full) if rootpage and _UNDECODABLE not in name else None
        for name, rootpage in found.fetchall()
        if not name.startswith(_INTERNAL)
    }


def stored_among(connection: sqlite3.Connection, names: Iterable[str]) -> Mapping[str, StoredTable]:
    """Those of ``names`` that the database has as a table whose rows are stored."""
    return {name: table for name, table in tables_among(connection, names).items() if table.is_stored}


def has_rows(
    connection: sqlite3.Connection, table: StoredTable, column: str | None, like: str | None, *, is_full: bool = True
) -> bool | None:
    """Whether a row has a value in ``column``, neither empty nor 0, that fits ``like``; any row where None is given.

    Unless ``is_full`` the first rows of a table are looked at, and None says that it is not among them.
    """
    looks_at_all = is_full or column is None or _first_rows(connection, table.name) <= FEW_ROWS
    rows = f'"{table.name}"' if looks_at_all else f'(SELECT "{column}" FROM "{table.name}" LIMIT {FEW_ROWS})'  # noqa: S608 -- names nsysan declares
    condition = "TRUE" if column is None else f"\"{column}\" NOT IN (0, '')"
    condition += "" if like is None else f' AND CAST("{column}" AS TEXT) LIKE ?'
    query = f"SELECT EXISTS (SELECT 1 FROM {rows} WHERE {condition})"  # noqa: S608 -- the same
    (found,) = connection.execute(query, [] if like is None else [like]).fetchone()
    return True if found else False if looks_at_all else None


def _rows_of(connection: sqlite3.Connection, name: str, *, is_full: bool) -> int | None:
    if is_full:
        return _count(connection, f'"{_quoted(name)}"')
    first = _first_rows(connection, name)
    return first if first <= FEW_ROWS else _last_row_number(connection, name)


def _first_rows(connection: sqlite3.Connection, name: str) -> int:
    """How many rows the table has, more than a few being counted no further."""
    return _count(connection, f'(SELECT 1 FROM "{_quoted(name)}" LIMIT {FEW_ROWS + 1})')  # noqa: S608 -- quoted


def _last_row_number(connection: sqlite3.Connection, name: str) -> int | None:
    """The number of the last row, found without a scan; None where rows have none, or the table gives it a meaning."""
    keys = [
        kind for *_, kind, _, _, key_order in connection.execute(f'PRAGMA table_info("{_quoted(name)}")') if key_order
    ]
    if [kind.upper() for kind in keys] == ["INTEGER"]:
        return None
    try:
        (number,) = connection.execute(f'SELECT max(rowid) FROM "{_quoted(name)}"').fetchone()  # noqa: S608 -- quoted
    except sqlite3.OperationalError:
        return None
    return number if isinstance(number, int) else None


def _count(connection: sqlite3.Connection, rows: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {rows}").fetchone()  # noqa: S608 -- quoted
    return int(count)


def _quoted(name: str) -> str:
    return name.replace('"', '""')
