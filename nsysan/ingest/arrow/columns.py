"""The columns of a batch as int64 arrays, by the same rules as from SQLite.

Here a column has one type for all rows. Unsigned numbers beyond the range keep their bits, as nsys writes them to
SQLite. Memory: the arrays, twice while they are joined, and one group of rows of the file, as large as its writer made
it: 177 MB were measured for one million NVTX ranges in one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsysan.ingest.blocks import joined
from nsysan.ingest.columns import Column, ColumnRead, InlineTexts, Need, Scope
from nsysan.ingest.source import decode_text
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.tables import ABSENT

if TYPE_CHECKING:
    import pyarrow as pa


def read_batches(
    batches: Iterable[pa.RecordBatch], columns: tuple[Column, ...], scope: Scope | None, inline_texts: InlineTexts
) -> ColumnRead:
    """The ``columns`` of the rows in ``scope``, or of all rows; every column that is needed is there."""
    unreadable_counts: list[int] = []
    blocks = _blocks(batches, columns, scope, inline_texts, unreadable_counts.append)
    return ColumnRead(joined(columns, blocks), sum(unreadable_counts))


def _blocks(
    batches: Iterable[pa.RecordBatch],
    columns: tuple[Column, ...],
    scope: Scope | None,
    inline_texts: InlineTexts,
    tell_unreadable: Callable[[int], None],
) -> Iterator[list[Int64Array]]:
    for batch in batches:
        read = _Batch(batch, inline_texts)
        known, asked = read.scope_masks(scope)
        complete = np.logical_and.reduce([read.usable(column) for column in columns])
        tell_unreadable(int(np.count_nonzero(~known | (asked & ~complete))))
        rows = np.flatnonzero(known & asked & complete)
        yield [read.values(column, rows) for column in columns]


class _Batch:
    """One batch: its columns as integers, and where they hold one."""

    def __init__(self, batch: pa.RecordBatch, inline_texts: InlineTexts) -> None:
        self._batch = batch
        self._inline_texts = inline_texts
        self._read: dict[str, tuple[Int64Array, BoolArray]] = {}

    def scope_masks(self, scope: Scope | None) -> tuple[BoolArray, BoolArray]:
        """Which rows say whether they are in scope, and which of them are."""
        if scope is None:
            everything = np.ones(self._batch.num_rows, np.bool_)
            return everything, everything
        values, is_integer = self._integers(scope.column)
        return is_integer, np.isin(values, scope.values)

    def usable(self, column: Column) -> BoolArray:
        """Which rows can be read as far as this column goes."""
        if column.need is Need.OPTIONAL:
            return np.ones(self._batch.num_rows, np.bool_)
        _, is_integer = self._integers(column.sources[0])
        return is_integer | self._is_null(column.sources[0]) if column.need is Need.OPEN else is_integer

    def values(self, column: Column, rows: Int64Array) -> Int64Array:
        """The column's value in each of the rows."""
        found = np.full(len(rows), ABSENT, np.int64)
        for source in reversed([source for source in column.sources if source in self._batch.schema.names]):
            values, is_integer = self._integers(source)
            found = np.where(is_integer[rows], values[rows], found)
        if column.inline_text in self._batch.schema.names:
            found = self._with_inline_texts(found, self._batch.column(column.inline_text).take(rows))
        return found

    def _integers(self, name: str) -> tuple[Int64Array, BoolArray]:
        if name not in self._read:
            self._read[name] = _integers(self._batch.column(name))
        return self._read[name]

    def _is_null(self, name: str) -> BoolArray:
        return _as_mask(self._batch.column(name).is_null())

    def _with_inline_texts(self, ids: Int64Array, texts: pa.Array) -> Int64Array:
        encoded = _as_bytes(texts).dictionary_encode()
        distinct: list[bytes] = encoded.dictionary.to_pylist()
        places = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        filled = np.array([len(stored) > 0 for stored in distinct] or [False])[places]
        says_something = _as_mask(texts.is_valid()) & (filled | (ids == ABSENT))
        used = np.unique(places[says_something]).tolist()
        new_ids = np.zeros(max(len(distinct), 1), np.int64)
        new_ids[used] = [self._inline_texts.id_of(decode_text(distinct[place])) for place in used]
        return np.where(says_something, new_ids[places], ids)


def _integers(array: pa.Array) -> tuple[Int64Array, BoolArray]:
    """The values as int64, 0 where there is no integer, and where there is one."""
    import pyarrow as pa

    if not pa.types.is_integer(array.type):
        return np.zeros(len(array), np.int64), np.zeros(len(array), np.bool_)
    values = array.fill_null(0).to_numpy(zero_copy_only=False)
    return values.view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64), _as_mask(array.is_valid())


def _as_mask(booleans: pa.Array) -> BoolArray:
    mask: BoolArray = booleans.to_numpy(zero_copy_only=False)
    return mask


def _as_bytes(texts: pa.Array) -> pa.Array:
    import pyarrow as pa

    is_bytes = pa.types.is_binary(texts.type) or pa.types.is_large_binary(texts.type)
    return texts if is_bytes else texts.cast(pa.string()).cast(pa.binary())


def texts_of(batches: Iterable[pa.RecordBatch], ids: Int64Array) -> Iterator[tuple[int, str]]:
    """The ``value`` of each row whose ``id`` is one of ``ids``."""
    for batch in batches:
        found, is_integer = _integers(batch.column("id"))
        rows = np.flatnonzero(is_integer & np.isin(found, ids) & _as_mask(batch.column("value").is_valid()))
        values = batch.column("value").take(rows).to_pylist()
        for string_id, value in zip(found[rows].tolist(), values, strict=True):
            yield string_id, decode_text(value) if isinstance(value, bytes) else str(value)
