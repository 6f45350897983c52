"""What is asked of a large table, whatever it is stored in: its columns, and what a value of another type means."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from nsysan.model.arrays import IdArray

FIRST_INLINE_ID = 1 << 62
"""Beyond any id that nsys gives."""


class Need(Enum):
    """What a value that is no integer makes of its record."""

    REQUIRED = "the record cannot be read"
    OPEN = "NULL is ABSENT, anything else makes the record unreadable"
    OPTIONAL = "the value is ABSENT"


class Column(msgspec.Struct, frozen=True):
    """A column of the answer: the first of ``sources`` that the table has and that holds an integer.

    Where the table has ``inline_text`` and it says something, the answer is the id that ``InlineTexts`` gives it. A
    text that is empty says something only where no source holds an integer: exports of 2020 and 2021 know no NULL.
    """

    name: str
    sources: tuple[str, ...]
    need: Need
    inline_text: str | None = None


class Scope(msgspec.Struct, frozen=True):
    """The rows that are asked for: those whose ``column`` is one of ``values``."""

    column: str
    values: tuple[int, ...]


class ColumnRead(msgspec.Struct, frozen=True):
    """The arrays by column, in the order of the file, and how many rows in scope could not be read.

    ``arrays`` is None where the table lacks a column that every record needs: no row can be read then. A row whose
    scope is unknown, because that column holds no integer, cannot be read either. ``used_columns`` are those of the
    whole table that may hold a value in any row: no other does. None where nobody looked for them.
    """

    arrays: Mapping[str, IdArray] | None
    unreadable_count: int
    used_columns: frozenset[str] | None = None


class InlineTexts:
    """Texts that stand in records themselves, each with an id of its own."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def id_of(self, text: str) -> int:
        """The id of the text, a new one where it is met for the first time."""
        return self._ids.setdefault(text, FIRST_INLINE_ID + len(self._ids))

    def strings(self) -> dict[int, str]:
        """The texts by id."""
        return {text_id: text for text, text_id in self._ids.items()}


def needed_columns(columns: tuple[Column, ...], scope: Scope | None) -> set[str]:
    """The columns without which no row can be read."""
    needed = {column.sources[0] for column in columns if column.need is not Need.OPTIONAL}
    return needed | {scope.column} if scope else needed
