"""The distinct values of a column and which of them each row has.

Most columns of traces are ids without many holes, for which a table of all numbers does without sorting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.coded import CodedColumn

AnyNumber = TypeVar("AnyNumber", bound=np.integer[Any])

NOWHERE = -1
"""The place of what is not among the values."""

_HOLES = 4
"""A table over all numbers from the smallest to the largest value may have so many places a row."""
_SMALL_TABLE = 1 << 16
_LONG_RUN = 16
"""Rows of one value, on average, for which it pays to look at runs of rows."""
_BLOCK_ROWS = 1 << 16


class Distinct(msgspec.Struct, frozen=True, eq=False):
    """The distinct ``values`` of a column in ascending order."""

    values: Int64Array
    _table: npt.NDArray[np.int32] | None
    """The place of each number from the first value to the last, where there are few enough of these."""
    _shift: int = 0
    """How many low bits all values share: process ids have theirs higher up, and numbers in between are none."""

    @classmethod
    def of(cls, column: IdArray) -> Distinct:
        """The distinct values of the column."""
        if not len(column):
            return cls(np.empty(0, np.int64), None)
        if isinstance(column, CodedColumn):
            return cls.of(column.occurring().values)
        first, last = int(column.min()), int(column.max())
        if first == last:
            return cls(np.array([first]), np.zeros(1, np.int32))
        most = _HOLES * len(column) + _SMALL_TABLE
        shift = 0 if last - first < most else _shared_bits(column)
        if last - first >= min(most << shift, 1 << 63):
            return cls(_sorted_distinct(column), None)
        is_there = np.zeros(((last - first) >> shift) + 1, np.bool_)
        for rows in blocks_of(len(column)):
            is_there[np.subtract(column[rows], first, dtype=np.int64) >> shift] = True
        places = np.flatnonzero(is_there)
        table = np.zeros(len(is_there), np.int32)
        table[places] = np.arange(len(places), dtype=np.int32)
        return cls((places << shift) + first, table, shift)

    def __len__(self) -> int:
        return len(self.values)

    def places(self, column: IdArray) -> IdArray:
        """The place of each row's value among the values, ``NOWHERE`` where it is none of them."""
        if not len(self.values):
            return np.full(len(column), NOWHERE)
        if isinstance(column, CodedColumn):
            return self.places(column.values)[column.places]
        places = np.empty(len(column), np.int64 if self._table is None else self._table.dtype)
        for rows in blocks_of(len(column)):
            places[rows] = self._places(column[rows])
        return places

    def own_places(self, column: IdArray) -> IdArray:
        """The place of each row's value; the values must be those of this very column."""
        if isinstance(column, CodedColumn):
            # wide enough to be computed with, as the others are
            return column.occurring().places.astype(np.int32)
        if len(self.values) == 1:
            return np.zeros(len(column), np.int32)
        if self._table is None:
            return np.searchsorted(self.values, column)
        places = np.empty(len(column), self._table.dtype)
        for rows in blocks_of(len(column)):
            offsets = np.subtract(column[rows], self.values[0], dtype=np.int64) >> self._shift
            places[rows] = self._table[offsets]
        return places

    def own_values(self, column: IdArray, value_of: npt.NDArray[AnyNumber]) -> npt.NDArray[AnyNumber]:
        """What ``value_of`` has at the place of each row's value; the values must be those of this very column."""
        if len(self.values) and self.values[0] >= 0 and self.values[-1] < _SMALL_TABLE:
            # the numbers themselves are places in a small table
            table = np.zeros(int(self.values[-1]) + 1, value_of.dtype)
            table[self.values] = value_of
            return table[column]
        return value_of[self.own_places(column)]

    def _places(self, column: IdArray) -> IdArray:
        places: IdArray
        if self._table is None:
            places = np.searchsorted(self.values, column)
        else:
            offsets = np.subtract(column, self.values[0], dtype=np.int64) >> self._shift
            places = self._table.take(offsets, mode="clip")
        known = self.values.take(places, mode="clip") == column
        return places if known.all() else np.where(known, places, NOWHERE)


def blocks_of(row_count: int) -> Iterator[slice]:
    """All rows in blocks that stay in the processor's caches."""
    yield from (slice(begin, min(begin + _BLOCK_ROWS, row_count)) for begin in range(0, row_count, _BLOCK_ROWS))


def distinct(column: IdArray) -> Int64Array:
    """The distinct values in ascending order."""
    return Distinct.of(column).values


def coded(column: IdArray) -> tuple[Int64Array, IdArray]:
    """The distinct values in ascending order, and the place of each row's value among them."""
    is_plain = not isinstance(column, CodedColumn)
    if is_plain and len(column) > _SMALL_TABLE and (changes := _seldom_changes(column)) is not None:
        heads = np.append([0], changes)
        values, places = coded(column[heads])
        return values, np.repeat(places, np.diff(heads, append=len(column)))
    found = Distinct.of(column)
    return found.values, found.own_places(column)


def first_rows(places: IdArray) -> Int64Array:
    """The first row of each place; there is a row for every place from 0 to the last."""
    rows = np.empty(int(places.max(initial=-1)) + 1, np.int64)
    # of several rows with one place the last that is written stays
    rows[places[::-1]] = np.arange(len(places) - 1, -1, -1)
    return rows


def summed(values: npt.NDArray[np.integer[Any]], places: npt.NDArray[np.integer[Any]], count: int) -> Int64Array:
    """The sum of the values of each of ``count`` places, as whole numbers."""
    sums = np.zeros(count, np.int64)
    if values.strides == (0,) and len(values):
        # one value that all rows have
        return np.bincount(places, minlength=count) * int(values[0]) if values[0] else sums
    # numpy's quick way is for indices and values as wide as the sums
    np.add.at(sums, places.astype(np.intp, copy=False), values.astype(np.int64, copy=False))
    return sums


def _seldom_changes(column: IdArray) -> Int64Array | None:
    """Where the value differs from the one before, None where it often does: threads and devices have long runs."""
    begin = column[:_SMALL_TABLE]
    if _LONG_RUN * np.count_nonzero(begin[1:] != begin[:-1]) > len(begin):
        return None
    changes: Int64Array = np.flatnonzero(column[1:] != column[:-1]) + 1
    return changes if _LONG_RUN * len(changes) <= len(column) else None


def _shared_bits(column: IdArray) -> int:
    """How many low bits are the same in all values, which are not all equal."""
    differing = int(np.bitwise_or.reduce(column ^ column[0]))
    return (differing & -differing).bit_length() - 1


def _sorted_distinct(column: IdArray) -> Int64Array:
    ordered = np.sort(column)
    is_new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
