"""Columns out of blocks of rows, in as few bytes as they need.

A trace has tens of millions of rows, and most of their columns are ids and kinds: small numbers, or the same one in
every row. What is computed with stays int64: times and sizes, and threads and processes, whose bits are taken apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsysan.ingest.columns import Column
from nsysan.model.columns import concatenated, narrowed
from nsysan.model.tables import IdArray, Int64Array


def joined(columns: Sequence[Column], blocks: Iterable[Sequence[Int64Array]]) -> dict[str, IdArray]:
    """The columns by name; each block has an array for each of them, all of one length."""
    pieces: list[list[IdArray]] = [[] for _ in columns]
    for block in blocks:
        for column, of_column, values in zip(columns, pieces, block, strict=True):
            of_column.append(narrowed(column.name, values))
    # what is joined is let go of, so that one column at a time is there twice
    return {column.name: concatenated(pieces.pop(0)) for column in columns}
