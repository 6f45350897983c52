"""The columns of a table as both readers of SQLite files give them: SQLite itself, and the compiled module."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from nsysan.ingest.columns import Column, ColumnRead, InlineTexts, Need, Scope
from nsysan.ingest.source import StoredTable
from nsysan.ingest.sqlite import page_columns, queried_columns
from nsysan.ingest.sqlite.database import open_database
from nsysan.ingest.sqlite.tables import tables_among
from nsysan.model.progress import UNWATCHED

START = Column("start", ("a",), Need.REQUIRED)
END = Column("end", ("b",), Need.OPEN)
PLACE = Column("place", ("c", "id"), Need.OPTIONAL)
NAME = Column("name", ("d", "c"), Need.OPTIONAL, inline_text="t")
MOMENT = Column("moment_ns", ("c", "a"), Need.OPTIONAL)
THREAD = Column("global_tid", ("e", "b"), Need.OPTIONAL)
NAME_ID = Column("name_id", ("e",), Need.OPTIONAL, inline_text="t")
COLUMNS = (START, END, PLACE, NAME, MOMENT, THREAD, NAME_ID)
"""Narrow ones, one that stays wide, and two that are kept as places among their values."""
SCOPE = Scope("e", (0, 1, 70))


class Answer(msgspec.Struct, frozen=True):
    """The rows of all columns, how many rows could not be read, and the texts by id."""

    columns: dict[str, list[int]] | None
    unreadable_count: int
    texts: dict[int, str]


def holding_values(path: Path, table: str) -> set[str]:
    """The columns of the table in which a row has a value."""
    with open_database(path, os.fspath(path)) as connection:
        columns = tables_among(connection, [table])[table].columns
        counts = ", ".join(f'count("{column}")' for column in sorted(columns))
        (found,) = connection.execute(f"SELECT {counts} FROM {table}")
    return {column for column, count in zip(sorted(columns), found, strict=True) if count}


def used_columns(path: Path, table: str, columns: tuple[Column, ...], scope: Scope | None) -> frozenset[str] | None:
    """The columns in which the compiled module saw values; None where it hands over."""
    texts = InlineTexts()
    with open_database(path, os.fspath(path)) as connection:
        stored = tables_among(connection, [table])[table]
        read = page_columns.read_columns(
            connection, stored, columns, scope, id_of_text=lambda text: texts.id_of(text.hex()), progress=UNWATCHED
        )
    return None if read is None else read.used_columns


def asked_from_sqlite(path: Path, table: str, columns: tuple[Column, ...], scope: Scope | None = None) -> Answer:
    """What SQLite answers."""
    answer = _read(
        path, table, lambda connection, stored, _: queried_columns.read_columns(connection, stored, columns, scope)
    )
    assert answer is not None
    return answer


def read_from_pages(path: Path, table: str, columns: tuple[Column, ...], scope: Scope | None = None) -> Answer | None:
    """What the compiled module answers; None where it hands over."""
    read = partial(page_columns.read_columns, progress=UNWATCHED)
    return _read(path, table, lambda connection, stored, ids: read(connection, stored, columns, scope, id_of_text=ids))


_Read = Callable[[sqlite3.Connection, StoredTable, Callable[[bytes], int]], ColumnRead | None]


def _read(path: Path, table: str, read: _Read) -> Answer | None:
    texts = InlineTexts()

    def id_of(stored: bytes) -> int:
        # every byte counts, sound text or not
        return texts.id_of(stored.hex())

    with open_database(path, os.fspath(path)) as connection:
        connection.create_function("inline_text_id", 1, id_of)
        found = read(connection, tables_among(connection, [table])[table], id_of)
    if found is None:
        return None
    columns = None if found.arrays is None else {name: array.tolist() for name, array in found.arrays.items()}
    return Answer(columns, found.unreadable_count, texts.strings())
