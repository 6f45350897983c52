"""The tables of an SQLite database as a source."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nsysan.ingest.blocks import Blocks
from nsysan.ingest.columns import Column, ColumnRead, InlineTexts, Scope
from nsysan.ingest.source import StoredTable, Value, integer, text
from nsysan.ingest.sqlite import page_columns, queried_columns
from nsysan.model.progress import UNWATCHED, Progress

_IDS_PER_QUERY = 500


class SqliteTables:
    """Those of the named tables that the database behind ``connection`` has, as table or view."""

    def __init__(self, connection: sqlite3.Connection, names: Iterable[str], progress: Progress = UNWATCHED) -> None:
        self._connection = connection
        self._progress = progress
        self._inline_texts = InlineTexts()
        self._is_used: dict[tuple[str, str], bool] = {}
        (self._encoding,) = connection.execute("PRAGMA encoding").fetchone()
        connection.create_function("inline_text_id", 1, self._inline_text_id)
        self._tables = tables_among(connection, names)

    @property
    def tables(self) -> Mapping[str, StoredTable]:
        """The tables by name."""
        return self._tables

    @property
    def inline_texts(self) -> InlineTexts:
        """The texts met inside records."""
        return self._inline_texts

    def rows(self, table: StoredTable, columns: Iterable[str]) -> Iterator[tuple[Value, ...]]:
        """The rows of a small table; a column that it lacks is None in each."""
        yield from self._connection.execute(f'SELECT {_selected(table, columns)} FROM "{table.name}"')  # noqa: S608 -- names nsysan declares

    def used_columns(self, table: StoredTable, columns: Iterable[str]) -> frozenset[str]:
        """Those of the columns that the table has and that hold a value in any row; each is looked at once."""
        own = table.columns.intersection(columns)
        unknown = sorted(column for column in own if (table.name, column) not in self._is_used)
        if unknown:
            counts = ", ".join(f'count("{column}")' for column in unknown)
            (found,) = self._connection.execute(f'SELECT {counts} FROM "{table.name}"')  # noqa: S608 -- names nsysan declares
            self._is_used |= {(table.name, column): count > 0 for column, count in zip(unknown, found, strict=True)}
        return frozenset(column for column in own if self._is_used[table.name, column])

    def rows_with(self, table: StoredTable, needed: str, columns: Iterable[str]) -> Iterator[tuple[Value, ...]]:
        """Of a large table the rows in which ``needed``, a column that it has, holds a value."""
        query = f'SELECT {_selected(table, columns)} FROM "{table.name}" WHERE "{needed}" IS NOT NULL'  # noqa: S608 -- the same
        yield from self._connection.execute(query)

    def read_columns(self, table: StoredTable, columns: tuple[Column, ...], scope: Scope | None) -> ColumnRead:
        """The ``columns`` of the rows in ``scope``, or of all rows."""
        self._progress.begin(f"reading {table.name}", self._last_row_number(table))
        from_pages = page_columns.read_columns(
            self._connection, table, columns, scope, id_of_text=self._inline_text_id, progress=self._progress
        )
        if from_pages is None:
            return queried_columns.read_columns(self._connection, table, columns, scope, self._progress)
        used = from_pages.used_columns or frozenset()
        self._is_used |= {(table.name, column): column in used for column in table.columns}
        return from_pages

    def read_blocks(self, table: StoredTable, columns: tuple[Column, ...]) -> Blocks | None:
        """The ``columns`` of all rows a block at a time; None where they have to be read as a whole."""
        most_rows = self._last_row_number(table)
        id_of_text = self._inline_text_id
        return page_columns.read_blocks(self._connection, table, columns, id_of_text=id_of_text, most_rows=most_rows)

    def texts(self, table: StoredTable, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Each of these ids with its text; an id whose row is missing or NULL has none, one with several rows many."""
        for begin in range(0, len(ids), _IDS_PER_QUERY):
            wanted = ids[begin : begin + _IDS_PER_QUERY]
            query = f'SELECT id, value FROM "{table.name}" WHERE id IN ({", ".join("?" * len(wanted))})'  # noqa: S608 -- no text in it
            named = ((string_id, text(value)) for string_id, value in self._connection.execute(query, wanted))
            yield from ((string_id, name) for string_id, name in named if name is not None)

    def _last_row_number(self, table: StoredTable) -> int | None:
        """How many rows there are at most, as long as none was given a number of its own; None where rows have none."""
        try:
            (number,) = self._connection.execute(f'SELECT max(rowid) FROM "{table.name}"').fetchone()  # noqa: S608 -- declared name
        except sqlite3.OperationalError:
            return None
        return integer(number)

    def _inline_text_id(self, stored: bytes) -> int:
        return self._inline_texts.id_of(stored.decode(self._encoding, "replace"))


def _selected(table: StoredTable, columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' if column in table.columns else "NULL" for column in columns)


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


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(name for (_, name, *_) in connection.execute(f'PRAGMA table_info("{table}")'))
