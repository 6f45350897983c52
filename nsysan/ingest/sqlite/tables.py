"""Which tables a database holds, and rows of small ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nsysan.ingest.sqlite.database import decode_text

Value = int | float | str | bytes | None


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
