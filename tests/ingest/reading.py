"""Reading in tests: one call, and tables as rows that can be compared whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import NsysanError

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.tables import Table
    from nsysan.model.trace import Trace


def read(path: Path) -> Trace:
    """The trace at ``path``, read with default options."""
    return read_trace(path, ReadOptions())


def refusal(path: Path, options: ReadOptions | None = None) -> NsysanError:
    """The error that reading ``path`` ends in; fails the test where it does not."""
    with pytest.raises(NsysanError) as caught:
        read_trace(path, options or ReadOptions())
    return caught.value


def rows(table: Table | None, *columns: str) -> list[tuple[int, ...]]:
    """The records as tuples of the named columns, or of all."""
    assert table is not None
    picked = [table.columns()[name].tolist() for name in columns or table.columns()]
    return list(zip(*picked, strict=True))


def names_in(folder: Path) -> list[str]:
    """The names of the files in ``folder``."""
    return sorted(path.name for path in folder.iterdir())


def edit(path: Path, *statements: str) -> Path:
    """Run SQL on the database at ``path``, and answer the path."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def without_constraints(table: str) -> tuple[str, ...]:
    """SQL that lets the columns of ``table`` hold anything, as damaged or foreign exports do."""
    return (
        f"CREATE TABLE loose AS SELECT * FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE loose RENAME TO {table}",
    )
