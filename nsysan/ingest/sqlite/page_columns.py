"""The columns of a large table straight from the file's pages, by the compiled module, where that is sure of them.

It hands over where it is not: then SQLite is asked (``queried_columns``), and its answer or refusal counts. Memory: the
arrays, one of them twice, and a block of int64.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from nsysan.ingest.blocks import Blocks, WholeNeededError, joined
from nsysan.ingest.columns import Column, ColumnRead, Need, Scope, needed_columns
from nsysan.ingest.source import StoredTable
from nsysan.ingest.sqlite.row_storage import RowStorage, row_storage
from nsysan.model.arrays import Int64Array
from nsysan.model.progress import UNWATCHED, Progress

if TYPE_CHECKING:
    from nsysan.ingest import _columns

IdOfText = Callable[[bytes], int]

_BLOCK_ROWS = 1 << 15
"""So many rows of fourteen columns stay in the processor's caches, and their memory serves one block after another."""
_SMALL_BLOCK_ROWS = 1 << 17
_SWITCH = "NSYSAN_NATIVE"
"""The environment variable that is 0 where compiled modules shall not be used."""


def is_module_there() -> bool:
    """Whether the compiled module was built and may be used."""
    if os.environ.get(_SWITCH) == "0":
        return False
    try:
        from nsysan.ingest import _columns  # noqa: F401 -- to see whether it is there
    except ImportError:
        return False
    return True


def read_columns(  # noqa: PLR0913 -- what is read, and who is asked and told meanwhile
    connection: sqlite3.Connection,
    table: StoredTable,
    columns: tuple[Column, ...],
    scope: Scope | None,
    *,
    id_of_text: IdOfText,
    progress: Progress,
) -> ColumnRead | None:
    """The ``columns`` of the rows in ``scope``, or of all rows; None where SQLite has to be asked."""
    scan = _scan(connection, table, columns, scope, id_of_text)
    if scan is None:
        return None
    from nsysan.ingest._columns import HandOverError

    try:
        arrays = joined(columns, _blocks(scan, _BLOCK_ROWS, progress))
    except HandOverError:
        return None
    return ColumnRead(arrays, scan.unreadable_count)


def read_blocks(
    connection: sqlite3.Connection,
    table: StoredTable,
    columns: tuple[Column, ...],
    *,
    id_of_text: IdOfText,
    most_rows: int | None,
) -> Blocks | None:
    """The ``columns`` of all rows in blocks that stay in the processor's caches; None where SQLite has to be asked."""
    scan = _scan(connection, table, columns, None, id_of_text)
    return None if scan is None else Blocks(_blocks_or_none(scan), most_rows, lambda: scan.unreadable_count)


def _blocks_or_none(scan: _columns.Scan) -> Iterator[list[Int64Array]]:
    from nsysan.ingest._columns import HandOverError

    try:
        yield from _blocks(scan, _SMALL_BLOCK_ROWS, UNWATCHED)
    except HandOverError as error:
        raise WholeNeededError from error


def _scan(
    connection: sqlite3.Connection,
    table: StoredTable,
    columns: tuple[Column, ...],
    scope: Scope | None,
    id_of_text: IdOfText,
) -> _columns.Scan | None:
    """The rows to be read; None where the compiled module is not there or not sure of them."""
    if not is_module_there() or needed_columns(columns, scope) - table.columns:
        return None
    from nsysan.ingest._columns import HandOverError

    storage = row_storage(connection, table.name, _used(columns, scope))
    try:
        return None if storage is None else open_scan(storage, columns, scope, id_of_text)
    except HandOverError:
        return None


def _blocks(scan: _columns.Scan, row_count: int, progress: Progress) -> Iterator[list[Int64Array]]:
    while (block := scan.read(row_count)) is not None:
        progress.advance(len(block[0]))
        yield block


def open_scan(
    storage: RowStorage, columns: tuple[Column, ...], scope: Scope | None, id_of_text: IdOfText
) -> _columns.Scan:
    """The rows, to be read in blocks of whatever size.

    Here and there HandOverError says that SQLite has to be asked.
    """
    from nsysan.ingest import _columns

    return _columns.Scan(
        os.fsencode(storage.path),
        layout=_columns.Layout(
            root_page=storage.root_page, has_default=storage.has_default, row_number=storage.row_number
        ),
        columns=[_requested(column, storage.positions) for column in columns],
        scope=_columns.Scope(position=storage.positions[scope.column], values=scope.values) if scope else None,
        id_of_text=id_of_text,
    )


def _used(columns: tuple[Column, ...], scope: Scope | None) -> set[str]:
    used = {source for column in columns for source in column.sources}
    used |= {column.inline_text for column in columns if column.inline_text is not None}
    return used | ({scope.column} if scope else set())


def _requested(column: Column, positions: Mapping[str, int]) -> _columns.Column:
    from nsysan.ingest import _columns

    return _columns.Column(
        sources=[positions[source] for source in column.sources if source in positions],
        is_needed=column.need is not Need.OPTIONAL,
        accepts_null=column.need is Need.OPEN,
        text=None if column.inline_text is None else positions.get(column.inline_text),
    )
