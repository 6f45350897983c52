"""The columns of a large table straight from the file's pages, by the compiled module, where that is sure of them.

It hands over where it is not: then SQLite is asked (``queried_columns``), and its answer or refusal counts. Memory: the
arrays in as few bytes as their values need, and some thousand rows of int64.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from nsysan.ingest.blocks import Blocks, WholeNeededError
from nsysan.ingest.columns import Column, ColumnRead, Need, Scope, needed_columns
from nsysan.ingest.source import StoredTable
from nsysan.ingest.sqlite.row_storage import RowStorage, row_storage
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.coded import coded_column
from nsysan.model.columns import is_composed, is_measured, narrowed
from nsysan.model.progress import Progress

if TYPE_CHECKING:
    from nsysan.ingest import _columns

IdOfText = Callable[[bytes], int]

_BLOCK_ROWS = 1 << 15
"""So many rows of fourteen columns stay in the processor's caches, and their memory serves one block after another."""
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
    storage = _storage(connection, table, columns, scope)
    if storage is None:
        return None
    from nsysan.ingest._columns import HandOverError

    try:
        scan = open_scan(storage, columns, scope, id_of_text)
        arrays = _whole_columns(scan, columns, progress)
    except HandOverError:
        return None
    used = frozenset(name for name, position in storage.positions.items() if scan.is_used[position])
    return ColumnRead(arrays, scan.unreadable_count, used)


def _whole_columns(scan: _columns.Scan, columns: tuple[Column, ...], progress: Progress) -> dict[str, IdArray]:
    row_count = 0
    while (kept_count := scan.keep(_BLOCK_ROWS)) is not None:
        progress.advance(kept_count)
        row_count += kept_count
    return {
        column.name: _whole_column(column.name, numbers, values, row_count)
        for column, (numbers, values) in zip(columns, scan.kept(), strict=True)
    }


def _whole_column(name: str, numbers: IdArray, values: Int64Array | None, row_count: int) -> IdArray:
    """The column; ``numbers`` are places among the ``values`` where there are any, and one where all are the same."""
    if len(numbers) < row_count:
        one = narrowed(name, numbers if values is None else values)
        return np.broadcast_to(one, row_count)
    return numbers if values is None or not row_count else coded_column(values, numbers)


def read_blocks(
    connection: sqlite3.Connection,
    table: StoredTable,
    columns: tuple[Column, ...],
    *,
    id_of_text: IdOfText,
    most_rows: int | None,
) -> Blocks | None:
    """The ``columns`` of all rows in blocks that stay in the processor's caches; None where SQLite has to be asked."""
    storage = _storage(connection, table, columns, None)
    if storage is None:
        return None
    from nsysan.ingest._columns import HandOverError

    try:
        scan = open_scan(storage, columns, None, id_of_text)
    except HandOverError:
        return None
    return Blocks(_blocks_or_none(scan), most_rows, lambda: scan.unreadable_count)


def _blocks_or_none(scan: _columns.Scan) -> Iterator[list[Int64Array]]:
    from nsysan.ingest._columns import HandOverError

    try:
        while (block := scan.read(_BLOCK_ROWS)) is not None:
            yield block
    except HandOverError as error:
        raise WholeNeededError from error


def _storage(
    connection: sqlite3.Connection, table: StoredTable, columns: tuple[Column, ...], scope: Scope | None
) -> RowStorage | None:
    """How the rows to be read are stored; None where the compiled module is not there or not sure of them."""
    if not is_module_there() or needed_columns(columns, scope) - table.columns:
        return None
    return row_storage(connection, table.name, _asked(columns, scope))


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


def _asked(columns: tuple[Column, ...], scope: Scope | None) -> set[str]:
    asked = {source for column in columns for source in column.sources}
    asked |= {column.inline_text for column in columns if column.inline_text is not None}
    return asked | ({scope.column} if scope else set())


def _requested(column: Column, positions: Mapping[str, int]) -> _columns.Column:
    from nsysan.ingest import _columns

    return _columns.Column(
        sources=[positions[source] for source in column.sources if source in positions],
        is_needed=column.need is not Need.OPTIONAL,
        accepts_null=column.need is Need.OPEN,
        text=None if column.inline_text is None else positions.get(column.inline_text),
        form=_form(column.name),
    )


def _form(name: str) -> _columns.Form:
    """How the column of this name is kept; names are ids of few texts, however large the ids."""
    from nsysan.ingest import _columns

    if is_composed(name) or name == "name_id":
        return _columns.Form.CODED
    return _columns.Form.WIDE if is_measured(name) else _columns.Form.NARROW
