"""How a table's rows lie in the pages of an SQLite file, as far as the schema tells and a reader of pages must know."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import msgspec

_REAL_TYPES = ("REAL", "FLOA", "DOUB")
"""What in a declared type makes SQLite store an integer where it then reads a real number."""

_PAGE_NUMBERS = range(1, 1 << 32)
_UNDECODABLE = "\ufffd"


class RowStorage(msgspec.Struct, frozen=True):
    """Where a table begins in which file, and which value of a record belongs to which column.

    ``has_default`` says for each position whether a record that ends before it means anything but NULL.
    ``row_number`` is the position where NULL is stored and the row's number is meant, None where there is none.
    """

    path: str
    root_page: int
    positions: Mapping[str, int]
    has_default: tuple[bool, ...]
    row_number: int | None


def row_storage(connection: sqlite3.Connection, table: str, columns: AbstractSet[str]) -> RowStorage | None:
    """How the rows of ``table`` are stored; None where one of ``columns`` might be another value than is stored.

    Rows without a number, computed columns and columns of real numbers are such, and what SQLite is too old to tell.
    """
    path, root_page = _path(connection), _root_page(connection, table)
    stored = connection.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
    is_stored_as_read = all(
        hidden == 0 and not (name in columns and _is_real(kind)) for _, name, kind, *_, hidden in stored
    )
    key = {position: kind for position, _, kind, _, _, key_order, _ in stored if key_order}
    is_row_number = bool(key) and not _has_key_index(connection, table)
    if path is None or root_page is None or not stored or not is_stored_as_read:
        return None
    if is_row_number and [kind.upper() for kind in key.values()] != ["INTEGER"]:
        return None
    return RowStorage(
        path=path,
        root_page=root_page,
        positions={name: position for position, name, *_ in stored},
        has_default=tuple(default is not None for _, _, _, _, default, *_ in stored),
        row_number=next(iter(key)) if is_row_number else None,
    )


def _root_page(connection: sqlite3.Connection, table: str) -> int | None:
    """The table's first page; None where its rows have no numbers, or may have none."""
    query = "SELECT rootpage, sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    found = connection.execute(query, (table,)).fetchall()
    # a schema may be damaged and say anything
    if len(found) != 1 or not isinstance(found[0][0], int) or not isinstance(found[0][1], str):
        return None
    ((root_page, statement),) = found
    # nsys writes comments into it: where both words only stand in them, SQLite is asked in vain
    may_lack_numbers = all(word in statement.upper() for word in ("WITHOUT", "ROWID"))
    return root_page if root_page in _PAGE_NUMBERS and not may_lack_numbers else None


def _has_key_index(connection: sqlite3.Connection, table: str) -> bool:
    """Whether the table's primary key has an index; else it is another name of the row's number."""
    indexes = connection.execute(f'PRAGMA index_list("{table}")').fetchall()
    return any(origin == "pk" for _, _, _, origin, *_ in indexes)


def _is_real(declared_type: str) -> bool:
    return any(real in declared_type.upper() for real in _REAL_TYPES)


def _path(connection: sqlite3.Connection) -> str | None:
    """The database's file; None where its name is no UTF-8, and so not known."""
    (path,) = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()
    return None if _UNDECODABLE in path else str(path)
