"""Processes that launch and of whose GPU work nothing was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.attribution.silent_processes import silent_process_notes
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.synth.export import Export
from tests.runs import analyze_exports

if TYPE_CHECKING:
    from pathlib import Path

LAUNCH, GRAPH = "cudaLaunchKernel_v7000", "cudaGraphLaunch_v10000"


def test_a_process_that_launches_beside_one_with_gpu_work_is_told(tmp_path: Path) -> None:
    export = Export().call(0, 1, LAUNCH, correlation=1).kernel(5, 10, "gemm", correlation=1)
    export.call(0, 1, LAUNCH, pid=200, correlation=1).call(2, 3, GRAPH, pid=200, correlation=2)
    # these launch nothing
    export.call(0, 1, "cudaMalloc_v3020", pid=300).call(0, 1, "cudaLaunchHostFunc_v10000", pid=300)

    (note,) = [note for note in analyze_exports(tmp_path, export).notes if note.id == "process_without_gpu_records"]

    assert note.sentence == (
        "Process 200 in rank0.sqlite made 2 launches, and none of its GPU work is in the report: "
        "what it ran is in no figure."
    )


def test_where_no_process_has_gpu_work_the_missing_recording_says_it_all(tmp_path: Path) -> None:
    trace = read_trace(Export().call(0, 1, LAUNCH, pid=200).write(tmp_path / "rank0.sqlite"), ReadOptions())

    assert list(silent_process_notes(trace)) == []
