"""Rows of a table by what they share, such as their thread, found without another look at the table."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import coded, distinct, summed
from nsysan.timeline.ordering import slices

_NO_ROWS = np.empty(0, np.int64)
_MOST_CODES_A_ROW = 4
"""Numbers with so many holes are still looked up in a table of all of them."""


class RowsByKey(msgspec.Struct, frozen=True, eq=False):
    """The rows of each key in order of time: those of ``keys[i]`` are ``rows[bounds[i]:bounds[i + 1]]``."""

    keys: Int64Array
    bounds: Int64Array
    rows: IdArray

    def of(self, key: int) -> IdArray:
        """The rows of one key, none where nothing has it."""
        place = int(np.searchsorted(self.keys, key))
        if place == len(self.keys) or self.keys[place] != key:
            return _NO_ROWS
        return self.rows[self.bounds[place] : self.bounds[place + 1]]

    def groups(self) -> Iterator[tuple[int, IdArray]]:
        """Each key with its rows."""
        yield from zip(self.keys.tolist(), np.split(self.rows, self.bounds[1:-1]), strict=False)


def rows_by_key(keys: IdArray, times_ns: Int64Array) -> RowsByKey:
    """The rows grouped by key, each group in order of time.

    Profilers write many records of a thread one after the other, so that runs of one key are grouped and not rows.
    """
    values, places = coded(keys)
    first = np.flatnonzero(np.append(np.ones(min(len(keys), 1), np.bool_), places[1:] != places[:-1]))
    counts, places = np.diff(first, append=len(keys)), places[first]
    by_key = np.argsort(places, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(summed(counts, places, len(values)))])
    rows = slices(first[by_key], counts[by_key], np.int32 if len(keys) <= np.iinfo(np.int32).max else np.int64)
    return RowsByKey(values, bounds, _in_order_of_time(rows, bounds, times_ns))


def chosen_by_key(chosen: IdArray, keys: IdArray, times_ns: Int64Array) -> RowsByKey:
    """These rows grouped by key, each group in order of time; keys and times are those of all rows."""
    grouped = rows_by_key(keys[chosen], times_ns[chosen])
    return RowsByKey(grouped.keys, grouped.bounds, chosen[grouped.rows])


def _in_order_of_time(rows: IdArray, bounds: Int64Array, times_ns: Int64Array) -> IdArray:
    """The rows with those of each group in order of time; nearly all lie so."""
    times_ns = times_ns[rows]
    is_late = np.append([False], times_ns[1:] < times_ns[:-1])
    # the first of a group is late for none
    is_late[bounds[:-1]] = False
    for group in distinct(np.searchsorted(bounds, np.flatnonzero(is_late), side="right") - 1).tolist():
        own = slice(bounds[group], bounds[group + 1])
        rows[own] = rows[own][np.argsort(times_ns[own], kind="stable")]
    return rows


def codes_of(*columns: IdArray) -> IdArray:
    """A number from 0 on for each row, equal where all of the columns are; in order of the columns' values."""
    codes, count = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        # most columns have a single value, and to see that is much cheaper than to sort them
        if not len(column) or column.min() == column.max():
            continue
        first, span = int(column.min()), int(column.max()) - int(column.min()) + 1
        if count * span <= _MOST_CODES_A_ROW * len(column):
            places: IdArray = np.subtract(column, first, dtype=np.int64)
        else:
            values, places = coded(column)
            span, codes = len(values), coded(codes)[1].astype(np.int64)
            count = int(codes.max()) + 1
        codes, count = codes * span + places, count * span
    return coded(codes)[1]
