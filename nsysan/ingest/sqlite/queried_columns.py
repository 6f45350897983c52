"""The columns of a large table as int64 arrays, asked from SQLite, with every value's type checked on the way.

SQLite lets any column of any row hold any type, so what is asked is not what a column is declared as but what each
value is.

Memory: the arrays, twice while they are joined, and 20,000 rows of Python integers. For NVTX ranges, five columns of
eight bytes, that is 80 bytes a row and 8 MB: 85 MB were measured for one million, 317 MB for four. Speed: half a
million kernels or NVTX ranges a second, measured on one shared core with 2,000,000 of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from nsysan.ingest.blocks import joined
from nsysan.ingest.columns import Column, ColumnRead, Need, Scope, needed_columns
from nsysan.ingest.source import StoredTable
from nsysan.model.arrays import Int64Array
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.tables import ABSENT

_CHUNK_ROWS = 20_000


def read_columns(
    connection: sqlite3.Connection,
    table: StoredTable,
    columns: tuple[Column, ...],
    scope: Scope | None,
    progress: Progress = UNWATCHED,
) -> ColumnRead:
    """The ``columns`` of the rows in ``scope``, or of all rows."""
    if needed_columns(columns, scope) - table.columns:
        return ColumnRead(None, _count(connection, table, "TRUE"))
    known = _is_integer(scope.column) if scope else "TRUE"
    asked = f'"{scope.column}" IN ({", ".join(map(str, scope.values))})' if scope else "TRUE"
    complete = " AND ".join(condition for column in columns if (condition := _condition(column))) or "TRUE"
    selected = ", ".join(_value(column, table.columns) for column in columns)
    # an index, which an export has none of, would change the order of the rows
    query = f'SELECT {selected} FROM "{table.name}" NOT INDEXED WHERE {known} AND {asked} AND {complete}'  # noqa: S608 -- declared names
    arrays = joined(columns, _blocks(connection.execute(query), len(columns), progress))
    unreadable_count = _count(connection, table, f"NOT {known} OR ({asked} AND NOT ({complete}))")
    return ColumnRead(arrays, unreadable_count)


def _is_integer(source: str) -> str:
    return f"typeof(\"{source}\") = 'integer'"


def _condition(column: Column) -> str | None:
    """What makes a row readable as far as this column goes, as SQL that is never NULL."""
    source = column.sources[0]
    return {
        Need.REQUIRED: _is_integer(source),
        Need.OPEN: f"typeof(\"{source}\") IN ('integer', 'null')",
        Need.OPTIONAL: None,
    }[column.need]


def _value(column: Column, present: frozenset[str]) -> str:
    """The column's value as an SQL expression that is always an integer."""
    integers = {source: _is_integer(source) for source in column.sources if source in present}
    cases = [f'WHEN {is_integer} THEN "{source}"' for source, is_integer in integers.items()]
    if column.inline_text in present:
        # as BLOB, for sqlite3 hands text to functions only where it is sound UTF-8
        stored = f'CAST("{column.inline_text}" AS BLOB)'
        says_something = " OR ".join([f"length({stored}) > 0", _none_of(integers.values())])
        cases.insert(0, f"WHEN {stored} IS NOT NULL AND ({says_something}) THEN inline_text_id({stored})")
    return f"CASE {' '.join(cases)} ELSE {ABSENT} END" if cases else str(ABSENT)


def _none_of(conditions: Iterable[str]) -> str:
    return f"NOT ({' OR '.join(conditions) or 'FALSE'})"


def _blocks(cursor: sqlite3.Cursor, column_count: int, progress: Progress) -> Iterator[list[Int64Array]]:
    while rows := cursor.fetchmany(_CHUNK_ROWS):
        values = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * column_count)
        progress.advance(len(rows))
        yield list(values.reshape(-1, column_count).T.copy())


def _count(connection: sqlite3.Connection, table: StoredTable, condition: str) -> int:
    query = f'SELECT count(*) FROM "{table.name}" NOT INDEXED WHERE {condition}'  # noqa: S608 -- names nsysan declares
    (count,) = connection.execute(query).fetchone()
    return int(count)
