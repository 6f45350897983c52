"""A folder of tables tells what the same export tells as SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.synth.export import Export
from tests.ingest.table_folders import FORMATS, as_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_folder_says_what_sqlite_says(tmp_path: Path, suffix: str) -> None:
    export = Export().gpu().kernel(10, 20, "ncclDevKernel_AllReduce_Sum").memset(30, 40, 8).nvtx(0, 50, "step")
    export.nvtx(7, 8, "ncclSend").nvtx(5, 6, "aten::mm, op_id = 1, sizes = [[2, 3], [3, 4]]")
    path = export.call(1, 2, "cudaGraphLaunch_v10000").write(tmp_path / "export.sqlite")
    folder = as_folder(path, tmp_path / "export_pqtdir", suffix)

    database, tables = survey_report(path, ReadOptions()), survey_report(folder, ReadOptions())

    different = {name: getattr(tables, name) for name in ("name", "reader", "size_bytes", "identity")}
    # nsys does not write the settings of the capture to a folder
    without_settings = tuple(table for table in database.tables if table.name != "META_DATA_CAPTURE")
    assert tables == replace(database, **different, tables=without_settings)
    assert {question.id for question in tables.open_questions or ()} >= {"nccl_bytes", "graph_kernels", "os_waits"}
    assert "gemm_shapes" not in {question.id for question in tables.open_questions or ()}
