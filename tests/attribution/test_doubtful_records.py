"""What a report says twice is used and said."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.attribution.doubtful_records import repeated_count
from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.model.contents import NamedCount
from nsysan.model.tables import Memsets
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export
from tests.ingest.reading import edit
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.run import Run

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
REPEATED = "equal an earlier one in every value; counts and totals include them, shares of the window do not."


def doubts(run: Run) -> list[str]:
    return [note.sentence for note in run.notes if note.id in {"repeated_records", "ambiguous_names"}]


@pytest.mark.parametrize(("kernel_count", "said"), [(99, True), (100, False)])
def test_rows_that_repeat_are_said_from_one_in_a_hundred_on(tmp_path: Path, kernel_count: int, *, said: bool) -> None:
    export = Export()
    for index in range(kernel_count):
        export.kernel(20 * index, 20 * index + 10, "gemm", correlation=index + 1)
    export.sql(f"INSERT INTO {KERNEL} SELECT * FROM {KERNEL} WHERE correlationId = 1")

    run = analyze_exports(tmp_path, export)

    rows = f"1 of {kernel_count + 1} records of kernels in rank0.sqlite"
    assert doubts(run) == ([f"{rows} {REPEATED}"] if said else [])
    [kernels] = result_of(run, KernelSummary).kernels
    assert kernels.count == kernel_count + 1


def test_equal_kernels_on_two_streams_repeat_nothing(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "gemm", correlation=1).kernel(0, 10, "gemm", stream=8, correlation=1)

    assert doubts(analyze_exports(tmp_path, export)) == []


@given(st.lists(st.tuples(*[st.integers(0, 1)] * 8), max_size=12))
def test_a_repeat_is_a_row_that_was_there_before(rows: list[tuple[int, ...]]) -> None:
    table = Memsets(*np.array(rows, np.int64).reshape(-1, 8).T)

    assert repeated_count(table) == sum(count - 1 for count in Counter(rows).values())


def test_of_several_texts_of_an_id_the_first_counts(tmp_path: Path) -> None:
    path = (
        Export()
        .kernel(0, 10, "gemm", short_name="gemm")
        .nvtx(0, 9, "step", registered=True)
        .write(tmp_path / "rank0.sqlite")
    )
    edit(
        path,
        "CREATE TABLE Others (id INTEGER, value TEXT)",
        "INSERT INTO Others SELECT id, value FROM StringIds",
        "INSERT INTO Others SELECT id, value FROM StringIds",
        "INSERT INTO Others SELECT id, 'other ' || value FROM StringIds",
        "DROP TABLE StringIds",
        "ALTER TABLE Others RENAME TO StringIds",
    )

    run = analyze([path], AnalyzeOptions())

    assert doubts(run) == ["2 name ids in rank0.sqlite with several texts: the first of each is used."]
    assert [row.name for row in result_of(run, KernelSummary).kernels] == ["gemm"]
    nvtx = survey_report(path, ReadOptions()).nvtx
    # nor does a second text make a second range
    assert nvtx is not None
    assert (nvtx.range_count, nvtx.frequent_names) == (1, (NamedCount("step", 1),))
