"""An SQLite export written again as the folder that ``nsys export -t parquetdir`` or ``-t arrowdir`` makes of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = (".parquet", ".arrow")
_NOT_WRITTEN = "META_DATA_CAPTURE"
# nsys writes ids as uint64, times as int64, and text as text; other numbers as either
_TYPES = {"INTEGER": pa.int64(), "TEXT": pa.string(), "REAL": pa.float64()}
_UNSIGNED = ("globalPid", "globalTid", "streamId", "contextId", "bytes", "demangledName", "shortName", "domainId")


def as_folder(export: Path, folder: Path, suffix: str) -> Path:
    """Write each table of ``export`` to a file in ``folder``, but the settings of the capture, as nsys does."""
    folder.mkdir()
    with closing(sqlite3.connect(export)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if name != _NOT_WRITTEN:
                write_table(folder / f"{name}{suffix}", _table(connection, name))
    return folder


def write_table(path: Path, table: Any) -> None:
    """Write one table, in small groups of rows, in the format that the suffix says."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=64)
        return
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, 64)


def _table(connection: sqlite3.Connection, name: str) -> Any:
    columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    schema = pa.schema([(column, _type(column, kind)) for _, column, kind, *_ in columns])
    stored = connection.execute(f'SELECT * FROM "{name}"').fetchall()
    values = zip(*stored, strict=True) if stored else [()] * len(columns)
    return pa.table([pa.array(list(column), field.type) for column, field in zip(values, schema, strict=True)], schema)


def _type(column: str, kind: str) -> Any:
    return pa.uint64() if column in _UNSIGNED else _TYPES[kind]
