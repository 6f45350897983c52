"""Which tables a database holds, and rows of small ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nsysan.ingest.sqlite.database import decode_text

Value = int | float | str | bytes | None


_INTERNAL = "sqlite_"
"""How the names of tables begin that SQLite keeps for itself."""
_UNDECODABLE = "\ufffd"
"""In names that were no UTF-8: no query can spell them."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table as it lies in the file; ``is_stored`` is False for a view or virtual table, whose rows are computed."""

    name: str
    columns: frozenset[str]
    is_stored: bool


def tables_among(connection: sqlite3.Connection, names: Iterable[str]) -> Mapping[str, StoredTable]:
    """Those of ``names`` that the database has as a table or view."""
    wanted = set(names)
    found = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view')")
    return {
        # a view has no root page, a virtual table has page 0
        name: StoredTable(name, _columns(connection, name), is_stored=bool(rootpage))
        for name, rootpage in found.fetchall()
        if name in wanted
    }


def stored_among(connection: sqlite3.Connection, names: Iterable[str]) -> Mapping[str, StoredTable]:
    """Those of ``names`` that the database has as a table whose rows are stored."""
    return {name: table for name, table in tables_among(connection, names).items() if table.is_stored}


def row_counts(connection: sqlite3.Connection) -> dict[str, int | None]:
    """The rows of every table and view, by name in order; None where they are computed, not stored."""
    found = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    return {
        name: _row_count(connection, name) if rootpage and _UNDECODABLE not in name else None
        for name, rootpage in found.fetchall()
        if not name.startswith(_INTERNAL)
    }


def has_rows(connection: sqlite3.Connection, table: StoredTable, column: str | None, like: str | None) -> bool:
    """Whether a row has a value in ``column``, neither empty nor 0, that fits ``like``; any row where None is given."""
    condition = "TRUE" if column is None else f"\"{column}\" NOT IN (0, '')"
    condition += "" if like is None else f' AND CAST("{column}" AS TEXT) LIKE ?'
    query = f'SELECT EXISTS (SELECT 1 FROM "{table.name}" WHERE {condition})'  # noqa: S608 -- names nsysan declares
    (found,) = connection.execute(query, [] if like is None else [like]).fetchone()
    return bool(found)


def rows(connection: sqlite3.Connection, table: StoredTable, columns: Iterable[str]) -> Iterator[tuple[Value, ...]]:
    """The rows of a small table; a column that it lacks is None in each."""
    selected = ", ".join(f'"{column}"' if column in table.columns else "NULL" for column in columns)
    yield from connection.execute(f'SELECT {selected} FROM "{table.name}"')  # noqa: S608 -- names nsysan declares


def integer(value: Value) -> int | None:
    """The value if it is an integer."""
    return value if isinstance(value, int) else None


def text(value: Value) -> str | None:
    """The value as text, None where it is NULL."""
    if value is None:
        return None
    return decode_text(value) if isinstance(value, bytes) else str(value)


def known_text(value: Value) -> str | None:
    """The value as text, None where it is NULL or empty: nsys writes either for what it does not know."""
    return text(value) or None


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(name for (_, name, *_) in connection.execute(f'PRAGMA table_info("{table}")'))


def _row_count(connection: sqlite3.Connection, name: str) -> int:
    quoted = name.replace('"', '""')
    (count,) = connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()  # noqa: S608 -- quoted
    return int(count)
