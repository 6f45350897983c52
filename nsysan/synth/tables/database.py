"""Rows into an SQLite file that looks as if nsys had exported it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from nsysan.synth.tables.enumerations import enumerations
from nsysan.synth.tables.records import CONSTANT, VARYING, Value
from nsysan.synth.tables.schema import ENUMERATION_COLUMNS, Column, Release

Row = tuple[Value, ...]


def write_database(
    path: Path,
    release: Release,
    tables: Mapping[str, Sequence[Row]],
    additions: Iterable[str] = (),
    statements: Iterable[str] = (),
) -> None:
    """Write ``tables`` (rows in the order of ``VARYING``) in the schema of ``release``.

    ``additions`` are statements that add rows to those, ``statements`` run last, on the finished tables.

    What was there is replaced. Equal rows make equal bytes.
    """
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("BEGIN")
        _fill(connection, release, tables)
        for addition in additions:
            connection.execute(addition)
        connection.execute("COMMIT")
        for statement in statements:
            connection.execute(statement)


def _fill(connection: sqlite3.Connection, release: Release, tables: Mapping[str, Sequence[Row]]) -> None:
    for table, rows in tables.items():
        _create(connection, table, release.columns(table))
        _insert(connection, table, _placeholders(table, release), rows)
    for table, enumeration_rows in enumerations(release, tables.keys()).items():
        _create(connection, table, release.parse_columns(ENUMERATION_COLUMNS))
        _insert(connection, table, {"id": "?", "name": "?", "label": "?"}, enumeration_rows)


def _create(connection: sqlite3.Connection, table: str, columns: Sequence[Column]) -> None:
    key = [f'"{column.name}"' for column in columns if column.primary_key]
    primary_key = [f"PRIMARY KEY ({', '.join(key)})"] if key else []
    connection.execute(f'CREATE TABLE "{table}" ({", ".join([*map(_definition, columns), *primary_key])})')


def _definition(column: Column) -> str:
    not_null = " NOT NULL" if column.required else ""
    return f'"{column.name}" {column.type}{not_null}'


def _placeholders(table: str, release: Release) -> dict[str, str]:
    """What to insert per column: ``?`` for the varying ones, in the order of the rows, then constants as literals."""
    varying = {column.name: "?" for column in release.parse_columns(VARYING[table])}
    known = {column.name for column in release.columns(table)}
    constant = {name: repr(value) for name, value in CONSTANT.get(table, {}).items() if name in known}
    return varying | constant


def _insert(connection: sqlite3.Connection, table: str, placeholders: Mapping[str, str], rows: Iterable[Row]) -> None:
    columns = ", ".join(f'"{name}"' for name in placeholders)
    insertion = f'INSERT INTO "{table}" ({columns}) VALUES ({", ".join(placeholders.values())})'  # noqa: S608 -- names and literals of our own tables
    connection.executemany(insertion, rows)
