"""Rows of a table by what they share, such as their thread, found without another look at the table."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import Distinct, coded
from nsysan.timeline.ordering import grouped_order

_NO_ROWS = np.empty(0, np.int64)


class RowsByKey(msgspec.Struct, frozen=True, eq=False):
    """The rows of each key in order of time: those of ``keys[i]`` are ``rows[bounds[i]:bounds[i + 1]]``."""

    keys: Int64Array
    bounds: Int64Array
    rows: Int64Array

    def of(self, key: int) -> Int64Array:
        """The rows of one key, none where nothing has it."""
        place = int(np.searchsorted(self.keys, key))
        if place == len(self.keys) or self.keys[place] != key:
            return _NO_ROWS
        return self.rows[self.bounds[place] : self.bounds[place + 1]]

    def groups(self) -> Iterator[tuple[int, Int64Array]]:
        """Each key with its rows."""
        yield from zip(self.keys.tolist(), np.split(self.rows, self.bounds[1:-1]), strict=False)


def rows_by_key(keys: Int64Array, times_ns: Int64Array) -> RowsByKey:
    """The rows grouped by key, each group in order of time."""
    values, places = coded(keys)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=len(values)))])
    return RowsByKey(values, bounds, grouped_order(places, len(values), times_ns))


def codes_of(*columns: Int64Array) -> Int64Array:
    """A number from 0 on for each row, equal where all of the columns are; in order of the columns' values."""
    codes: Int64Array | None = None
    for column in columns:
        values = Distinct.of(column)
        # most columns have a single value
        if len(values) > 1:
            places = values.own_places(column)
            codes = places if codes is None else coded(codes.astype(np.int64) * len(values) + places)[1]
    return np.zeros(len(columns[0]), np.int64) if codes is None else codes
