"""A large export is told about without a scan: what was not counted is null, and what may lie anywhere undecided."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.ingest.nsys import survey
from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.ingest.sqlite import counting
from nsysan.model.contents import Contents, TableRows
from nsysan.report.contents_text import render_contents
from nsysan.synth.export import Export

FEW = 4


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "SMALL_BYTES", 0)
    monkeypatch.setattr(counting, "FEW_ROWS", FEW)


def job(*, graph_node_at: int | None = None) -> Export:
    """More kernels and ranges than are looked through."""
    export = Export().session(duration_ns=10_000).nvtx(0, 9, "ncclAllReduce")
    for place in range(2 * FEW):
        export.kernel(10 * place, 10 * place + 5, "gemm").nvtx(10 * place, 10 * place + 5, "step")
    if graph_node_at is not None:
        export.sql(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 7 WHERE rowid = {graph_node_at}")
        export.sql("INSERT INTO StringIds VALUES (9000, 'cudaGraphLaunch_v10000')")
    return export


def both(export: Export, folder: Path) -> tuple[Contents, Contents]:
    """Without a scan, and in full."""
    path = export.write(folder / "export.sqlite")
    return survey_report(path, ReadOptions()), survey_report(path, ReadOptions(counts_all=True))


def test_what_takes_a_scan_is_null_and_all_else_as_in_full(tmp_path: Path) -> None:
    quick, full = both(job(), tmp_path)

    assert (quick.is_counted, full.is_counted, full.undecided_questions) == (False, True, ())
    assert quick == replace(
        full,
        processes=None,
        devices=None,
        work_start_ns=None,
        work_end_ns=None,
        nvtx=None,
        communicators=None,
        tables=quick.tables,
        open_questions=quick.open_questions,
        undecided_questions=quick.undecided_questions,
    )


def test_ids_of_a_table_are_no_numbers_of_rows(tmp_path: Path) -> None:
    export = Export().session().kernel(0, 9, "gemm")
    for place in range(FEW):
        export.sql(f"INSERT INTO StringIds VALUES ({1_000 * (place + 1)}, 'text {place}')")

    quick, full = both(export, tmp_path)

    assert TableRows("StringIds", None) in quick.tables
    assert [table.row_count for table in full.tables if table.name == "StringIds"] == [FEW + 1]


def test_rows_are_told_by_the_number_of_the_last_where_there_are_many(tmp_path: Path) -> None:
    export = job().sql("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = 2").sql("DELETE FROM PROCESSES")

    quick, full = both(export, tmp_path)

    name = "CUPTI_ACTIVITY_KIND_KERNEL"
    assert TableRows(name, 2 * FEW) in quick.tables
    assert TableRows(name, 2 * FEW - 1) in full.tables
    assert TableRows("PROCESSES", 0) in quick.tables


@pytest.mark.parametrize(
    ("graph_node_at", "undecided"), [(FEW, set()), (FEW + 1, {"graph_kernels"})], ids=["early", "late"]
)
def test_what_is_not_among_the_first_rows_is_undecided(tmp_path: Path, graph_node_at: int, undecided: set[str]) -> None:
    quick, full = both(job(graph_node_at=graph_node_at), tmp_path)

    found = {question.id for question in quick.open_questions}
    assert {"graph_kernels"} & set(quick.undecided_questions) == undecided
    assert found <= {question.id for question in full.open_questions}
    assert {question.id for question in full.open_questions} <= found | set(quick.undecided_questions)


def test_the_text_says_what_was_not_counted(tmp_path: Path) -> None:
    quick, _ = both(job(graph_node_at=FEW + 1), tmp_path)

    text = " ".join(render_contents(quick).split())

    assert "GPU work: not counted in so large a report; nsysan info --full counts" in text
    assert "NVTX_EVENTS 9; CUPTI_ACTIVITY_KIND_KERNEL 8" in text[text.index("Rows by their numbers: ") :]
    assert "Not looked for everywhere, which --full does: " in text
    assert "graph_kernels" in text
