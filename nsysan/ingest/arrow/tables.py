"""The tables of a folder as a source."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from nsysan.ingest.arrow.batches import column_names, damage_reported, record_batches
from nsysan.ingest.arrow.columns import read_batches, texts_of
from nsysan.ingest.arrow.folder import TableFormat, table_files
from nsysan.ingest.blocks import Blocks
from nsysan.ingest.columns import Column, ColumnRead, InlineTexts, Scope, needed_columns
from nsysan.ingest.source import StoredTable, Value
from nsysan.model.errors import MissingToolError
from nsysan.model.text import visible_text


class ArrowTables:
    """Those of the named tables that the folder holds in this format.

    Raises MissingToolError where pyarrow is not installed, InputError where a file is damaged, then and later, and
    where any table of the folder is no ordinary file.
    """

    def __init__(self, folder: Path, table_format: TableFormat, names: Iterable[str]) -> None:
        _demand_pyarrow(folder, table_format)
        files = table_files(folder, table_format)
        self._paths = {name: files[name] for name in names if name in files}
        self._inline_texts = InlineTexts()
        self._tables = {name: _stored_table(name, path) for name, path in self._paths.items()}

    @property
    def tables(self) -> Mapping[str, StoredTable]:
        """The tables by name."""
        return self._tables

    @property
    def inline_texts(self) -> InlineTexts:
        """The texts met inside records."""
        return self._inline_texts

    def rows(self, table: StoredTable, columns: Iterable[str]) -> Iterator[tuple[Value, ...]]:
        """The rows of a small table, its text as bytes; a column that it lacks is None in each."""
        path, wanted = self._paths[table.name], list(columns)
        with damage_reported(path):
            for batch in record_batches(path, sorted(table.columns.intersection(wanted))):
                nothing = [None] * batch.num_rows
                found = [batch.column(name).to_pylist() if name in table.columns else nothing for name in wanted]
                yield from zip(*found, strict=True)

    def used_columns(self, table: StoredTable, columns: Iterable[str]) -> frozenset[str]:
        """Those of the columns that the table has and that hold a value in any row."""
        path, own, used = self._paths[table.name], table.columns.intersection(columns), set[str]()
        with damage_reported(path):
            for batch in record_batches(path, sorted(own)) if own else ():
                used |= {name for name in own if batch.column(name).null_count < batch.num_rows}
        return frozenset(used)

    def rows_with(self, table: StoredTable, needed: str, columns: Iterable[str]) -> Iterator[tuple[Value, ...]]:
        """Of a large table the rows in which ``needed``, a column that it has, holds a value."""
        path, wanted = self._paths[table.name], list(columns)
        with damage_reported(path):
            for batch in record_batches(path, sorted(table.columns.intersection({*wanted, needed}))):
                kept = batch.filter(batch.column(needed).is_valid())
                nothing = [None] * kept.num_rows
                found = [kept.column(name).to_pylist() if name in table.columns else nothing for name in wanted]
                yield from zip(*found, strict=True)

    def read_columns(self, table: StoredTable, columns: tuple[Column, ...], scope: Scope | None) -> ColumnRead:
        """The ``columns`` of the rows in ``scope``, or of all rows."""
        path = self._paths[table.name]
        asked = {source for column in columns for source in (*column.sources, column.inline_text or "")}
        asked |= {scope.column} if scope else set()
        with damage_reported(path):
            batches = record_batches(path, sorted(table.columns & asked))
            if needed_columns(columns, scope) - table.columns:
                return ColumnRead(None, sum(batch.num_rows for batch in batches))
            return read_batches(batches, columns, scope, self._inline_texts)

    def read_blocks(self, _table: StoredTable, _columns: tuple[Column, ...]) -> Blocks | None:
        """None: a table of Arrow is read as a whole."""
        return None

    def texts(self, table: StoredTable, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Each of these ids with its text; an id whose row is missing or null has none, one with several rows many."""
        path = self._paths[table.name]
        with damage_reported(path):
            yield from texts_of(record_batches(path, ("id", "value")), np.array(ids, np.int64))


def _stored_table(name: str, path: Path) -> StoredTable:
    with damage_reported(path):
        columns = column_names(path)
    # a column that is there twice has no one value
    return StoredTable(name, frozenset(column for column in columns if columns.count(column) == 1), is_stored=True)


def _demand_pyarrow(folder: Path, table_format: TableFormat) -> None:
    try:
        importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingToolError(
            f"{visible_text(str(folder))} is an export in {table_format.name} files, and pyarrow, which reads them, "
            "is not installed.",
            "Install it: pip install 'nsysan[parquet]'; or export as SQLite: nsys export -t sqlite REPORT",
        ) from error
