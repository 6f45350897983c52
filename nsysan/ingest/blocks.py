"""Columns out of blocks of rows, in as few bytes as they need.

A trace has tens of millions of rows, and most of their columns are ids and kinds: small numbers, or the same one in
every row. What is computed with stays int64: times and sizes, and threads and processes, whose bits are taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from nsysan.ingest.columns import Column
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.columns import concatenated, narrowed

_JOINED_BLOCKS = 8
"""So many are joined at once: many small pieces would leave holes between them that nothing else fits into."""


class WholeNeededError(Exception):
    """What was read block by block has to be read again as a whole."""


class Blocks(msgspec.Struct, frozen=True):
    """The columns of the rows of a table, one block of rows after the other, in the order of the file.

    ``rows`` raises WholeNeededError where it must not go on, and there are ``most_rows`` at most (None: nobody knows).
    ``unreadable_count`` tells, once all are read, how many rows could not be.
    """

    rows: Iterator[Sequence[Int64Array]]
    most_rows: int | None
    unreadable_count: Callable[[], int]


def joined(columns: Sequence[Column], blocks: Iterable[Sequence[Int64Array]]) -> dict[str, IdArray]:
    """The columns by name; each block has an array for each of them, all of one length."""
    pieces: list[list[IdArray]] = [[] for _ in columns]
    for number, block in enumerate(blocks, start=1):
        for column, of_column, values in zip(columns, pieces, block, strict=True):
            of_column.append(narrowed(column.name, values))
        if number % _JOINED_BLOCKS == 0:
            for of_column in pieces:
                of_column[-_JOINED_BLOCKS:] = [concatenated(of_column[-_JOINED_BLOCKS:])]
    # what is joined is let go of, so that one column at a time is there twice
    return {column.name: narrowed(column.name, concatenated(pieces.pop(0))) for column in columns}
