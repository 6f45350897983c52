"""Tables behind one face, be they stored in SQLite, Parquet or Arrow; and single values out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from nsysan.ingest.blocks import Blocks
from nsysan.ingest.columns import Column, ColumnRead, InlineTexts, Scope

Value = int | float | str | bytes | None


class StoredTable(msgspec.Struct, frozen=True):
    """A table as it lies in the input; ``is_stored`` is False for a view or virtual table, whose rows are computed."""

    name: str
    columns: frozenset[str]
    is_stored: bool


class Source(Protocol):
    """An input that holds tables."""

    @property
    def tables(self) -> Mapping[str, StoredTable]:
        """The tables that nsysan knows, by name."""

    @property
    def inline_texts(self) -> InlineTexts:
        """The texts that ``read_columns`` has met inside records."""

    def rows(self, table: StoredTable, columns: Iterable[str]) -> Iterator[tuple[Value, ...]]:
        """The rows of a small table, one at a time; a column that it lacks is None in each."""

    def used_columns(self, table: StoredTable, columns: Iterable[str]) -> frozenset[str]:
        """Those of the columns that the table has and that hold a value in any row: one look at a large table."""

    def rows_with(self, table: StoredTable, needed: str, columns: Iterable[str]) -> Iterator[tuple[Value, ...]]:
        """Of a large table the rows in which ``needed``, a column that it has, holds a value."""

    def read_columns(self, table: StoredTable, columns: tuple[Column, ...], scope: Scope | None) -> ColumnRead:
        """The ``columns`` of the rows in ``scope``, or of all rows."""

    def read_blocks(self, table: StoredTable, columns: tuple[Column, ...]) -> Blocks | None:
        """The ``columns`` of all rows a block at a time; None where they have to be read as a whole."""

    def texts(self, table: StoredTable, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """``id`` and ``value`` of every row whose ``id`` is asked for, in the order of the table."""


def decode_text(stored: bytes) -> str:
    """Text as nsys meant it, with U+FFFD for what is no UTF-8."""
    return stored.decode("utf-8", "replace")


def integer(value: Value) -> int | None:
    """The value if it is an integer."""
    return value if isinstance(value, int) else None


def text(value: Value) -> str | None:
    """The value as text, None where it is NULL."""
    if value is None:
        return None
    return decode_text(value) if isinstance(value, bytes) else str(value)


def known_text(value: Value) -> str | None:
    """The value as text, None where it is NULL or empty: nsys writes either for what it does not know."""
    return text(value) or None
