"""Columns in as few bytes as they need: narrow types, and one value for a column in which all rows have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nsysan.model.arrays import IdArray

_MEASURED = ("_ns", "_bytes")
_COMPOSED = ("_pid", "_tid")


def narrowed(name: str, values: IdArray) -> IdArray:
    """The values of the column of this name in as few bytes as they need; one value that all rows have needs none.

    What is computed with stays int64: times and sizes, and threads and processes, whose bits are taken apart.
    """
    if not len(values):
        return values
    first, last = int(values.min()), int(values.max())
    if not name.endswith((*_MEASURED, *_COMPOSED)):
        values = values.astype(_narrowest(first, last), copy=False)
    return np.broadcast_to(values[:1], len(values)) if first == last else values


def as_few_bytes(values: IdArray) -> IdArray:
    """The values in the narrowest type that holds them: what is computed of them must be widened."""
    return values.astype(_narrowest(int(values.min()), int(values.max())), copy=False) if len(values) else values


def is_one_value(column: IdArray) -> bool:
    """Whether the column is stored as the one value that all its rows have; so is one without rows."""
    return column.strides == (0,) or not len(column)


def concatenated(pieces: Sequence[IdArray]) -> IdArray:
    """The pieces of a column one after the other; one value that all of them have stays one value."""
    if not pieces:
        return np.empty(0, np.int64)
    if len(pieces) == 1:
        return pieces[0]
    firsts = [piece[0] for piece in pieces if len(piece)]
    if len(set(firsts)) == 1 and all(map(is_one_value, pieces)):
        return np.broadcast_to(firsts[0], sum(map(len, pieces)))
    return np.concatenate(pieces)


def taken(column: IdArray, places: IdArray) -> IdArray:
    """The values at these places; one value that all rows have stays one value."""
    return np.broadcast_to(column[:1], len(places)) if is_one_value(column) and len(column) else column[places]


def _narrowest(first: int, last: int) -> type[np.signedinteger[Any]]:
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= first and last <= np.iinfo(kind).max:
            return kind
    return np.int64
