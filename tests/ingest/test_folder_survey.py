"""A folder of tables tells what the same export tells as SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path

pyarrow = pytest.importorskip("pyarrow")


def folder_of(database: Path, suffix: str) -> Path:
    """The tables of the database, one a file, as ``nsys export`` writes them to a folder."""
    folder = database.with_suffix(".tables")
    folder.mkdir()
    with closing(sqlite3.connect(database)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            cursor = connection.execute(f'SELECT * FROM "{name}"')
            heads, rows = [head for head, *_ in cursor.description], cursor.fetchall()
            columns = {head: [row[index] for row in rows] for index, head in enumerate(heads)}
            _write(pyarrow.table(columns), folder / f"{name}{suffix}")
    return folder


def _write(table: Any, path: Path) -> None:
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
        return
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_folder_says_what_sqlite_says(tmp_path: Path, suffix: str) -> None:
    export = (
        Export()
        .gpu()
        .kernel(10, 20, "ncclDevKernel_AllReduce_Sum")
        .memset(30, 40, 8)
        .nvtx(0, 50, "step")
        .nvtx(7, 8, "ncclSend")
    )
    export.nvtx(5, 6, "aten::mm, op_id = 1, sizes = [[2, 3], [3, 4]]").call(1, 2, "cudaGraphLaunch_v10000")
    path = export.write(tmp_path / "export.sqlite")
    folder = folder_of(path, suffix)

    database, tables = survey_report(path, ReadOptions()), survey_report(folder, ReadOptions())

    different = {name: getattr(tables, name) for name in ("name", "reader", "size_bytes", "identity")}
    assert tables == replace(database, **different)
    assert {question.id for question in tables.open_questions or ()} >= {"nccl_bytes", "graph_kernels", "os_waits"}
    assert "gemm_shapes" not in {question.id for question in tables.open_questions or ()}
