"""Columns in as few bytes as they need: narrow types, and one value for a column in which all rows have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.coded import CodedColumn, coded_column
from nsysan.model.distinct import coded, distinct

_MEASURED = ("_ns", "_bytes")
_COMPOSED = ("_pid", "_tid")
_FEW_ROWS = 10_000


def is_measured(name: str) -> bool:
    """Whether the column of this name holds times or sizes: they are computed with, and stay int64."""
    return name.endswith(_MEASURED)


def is_composed(name: str) -> bool:
    """Whether the column of this name holds threads or processes: few wide numbers whose bits are taken apart."""
    return name.endswith(_COMPOSED)


def narrowed(name: str, values: IdArray) -> IdArray:
    """The values of the column of this name in as few bytes as they need; one value that all rows have needs none.

    What is computed with stays int64: times and sizes; threads and processes are int64 to whoever asks.
    """
    if not len(values):
        return values
    first, last = int(values.min()), int(values.max())
    if not is_measured(name) and not is_composed(name):
        values = values.astype(_narrowest(first, last), copy=False)
    if first == last:
        return np.broadcast_to(values[:1], len(values))
    return _coded(values) if is_composed(name) else values


def as_few_bytes(values: IdArray) -> IdArray:
    """The values in the narrowest type that holds them: what is computed of them must be widened."""
    return values.astype(_narrowest(int(values.min()), int(values.max())), copy=False) if len(values) else values


def is_one_value(column: IdArray) -> bool:
    """Whether the column is stored as the one value that all its rows have; so is one without rows."""
    # a coded column has no strides
    return not len(column) or getattr(column, "strides", None) == (0,)


def concatenated(pieces: Sequence[IdArray]) -> IdArray:
    """The pieces of a column one after the other; one value that all of them have stays one value."""
    if not pieces:
        return np.empty(0, np.int64)
    if len(pieces) == 1:
        return pieces[0]
    firsts = [piece[0] for piece in pieces if len(piece)]
    if len(set(firsts)) == 1 and all(map(is_one_value, pieces)):
        return np.broadcast_to(firsts[0], sum(map(len, pieces)))
    if any(isinstance(piece, CodedColumn) for piece in pieces):
        return _coded_together(pieces)
    return np.concatenate(pieces)


def without_rows(column: IdArray, rows: Int64Array) -> IdArray:
    """The column without these rows, which ascend; its own memory is used for it where they are few.

    A million new numbers cost more than to move them: the system has to clear the memory first.
    """
    if isinstance(column, CodedColumn):
        return coded_column(column.values, without_rows(column.places, rows), all_occur=False)
    if is_one_value(column) or not len(rows):
        return column[: len(column) - len(rows)]
    if len(rows) > _FEW_ROWS or not column.flags.writeable:
        return np.delete(column, rows)
    ends = [*rows[1:].tolist(), len(column)]
    for gone, (row, end) in enumerate(zip(rows.tolist(), ends, strict=True)):
        column[row - gone : end - gone - 1] = column[row + 1 : end]
    return column[: len(column) - len(rows)]


def part_of(column: IdArray, rows: slice) -> IdArray:
    """Some rows in a row, in the memory of the column."""
    if isinstance(column, CodedColumn):
        return cast("IdArray", column.take(rows))
    return column[rows]


def quickest_choice(rows: Int64Array | BoolArray) -> IdArray | BoolArray:
    """The same rows as numpy takes them quickest: places, or a mask that keeps nearly all, whose runs it copies."""
    if rows.dtype != np.bool_:
        return rows.astype(np.intp, copy=False)
    mask: BoolArray = rows.astype(np.bool_, copy=False)
    keeps_most = np.count_nonzero(mask) >= len(mask) - len(mask) // 8
    return mask if keeps_most else np.flatnonzero(mask)


def taken(column: IdArray, chosen: IdArray | BoolArray) -> IdArray:
    """The values at these places, or where the mask says so; one value that all rows have stays one value."""
    if isinstance(column, CodedColumn):
        return cast("IdArray", column.take(chosen))
    if is_one_value(column) and len(column):
        count = int(np.count_nonzero(chosen)) if chosen.dtype == np.bool_ else len(chosen)
        return np.broadcast_to(column[:1], count)
    return column[chosen]


def _coded(values: IdArray) -> IdArray:
    """The same rows as a table of values and places in it."""
    found, places = coded(values)
    return coded_column(found, as_few_bytes(places))


def _coded_together(pieces: Sequence[IdArray]) -> IdArray:
    """The pieces one after the other, with one table of values for all."""
    parts = [coded(piece) for piece in pieces if len(piece)]
    if not parts:
        return np.empty(0, np.int64)
    together = distinct(np.concatenate([values for values, _ in parts]))
    kind = _narrowest(0, len(together))
    places = [np.searchsorted(together, values).astype(kind)[of_rows] for values, of_rows in parts]
    return coded_column(together, np.concatenate(places))


def _narrowest(first: int, last: int) -> type[np.signedinteger[Any]]:
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= first and last <= np.iinfo(kind).max:
            return kind
    return np.int64
