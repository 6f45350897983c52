"""Exports that lack a table, a column or a name: what they still answer is answered, the rest is named (cases C, M)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.copy_summary import CopySummary
from nsysan.analysis.gpu_samples import SampledGpus
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_gaps import IdleGaps
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.analysis.nccl_logs import NcclLogs
from nsysan.analysis.nccl_tests import NcclTests
from nsysan.analysis.profiles import Profiles
from nsysan.analysis.scheduler_jobs import SchedulerAccounts
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.attribution.window import WindowChoice
from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.model.errors import UsageError
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.run_json import encode_run
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.renderers import renderers
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

STEP = AnalyzeOptions(window=WindowChoice(nvtx_range="step"))


def job() -> Export:
    """Kernels, a copy and the calls that launched them inside a step of 100 ns."""
    export = Export().gpu(uuid="u0").cuda_device(uuid="u0").session(duration_ns=200)
    export.call(5, 9, "cudaLaunchKernel", correlation=1).kernel(10, 60, "gemm", correlation=1)
    return export.copy(60, 80, 64).nvtx(0, 100, "step", registered=True)


def answered(run: Run) -> dict[str, Any]:
    """``run.json`` without what names the input and the moment."""
    document: dict[str, Any] = json.loads(encode_run(run))
    return {key: value for key, value in document.items() if key not in {"reports", "created_utc"}}


def test_c45_what_has_no_end_is_open_or_no_range(tmp_path: Path) -> None:
    export = job().nvtx(1, None, "data", event_type=75, domain=3).nvtx(2, None, "mark", event_type=34)
    export.nvtx(50, None, "open", event_type=59)

    run = analyze_exports(tmp_path, export, options=AnalyzeOptions(window=WindowChoice(nvtx_range="open")))

    [gpu] = result_of(run, GpuTime).gpus
    # the range is closed where the capture ends, at 200 ns
    assert (gpu.window_start_ns, gpu.window_end_ns) == (50, 200)
    assert run.reports[0].unreadable_records == {}
    for name in ("mark", "data"):
        with pytest.raises(UsageError, match=f"holds no range '{name}'"):
            analyze_exports(tmp_path, export, options=AnalyzeOptions(window=WindowChoice(nvtx_range=name)))


NVTX_TABLES = {
    "as written": [],
    "NVTX_EVENTS_V2": ["ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS_V2"],
    "no textId, the text in the row": [
        "UPDATE NVTX_EVENTS SET text = (SELECT value FROM StringIds WHERE id = textId)",
        "ALTER TABLE NVTX_EVENTS DROP COLUMN textId",
    ],
    "no text, all of it in StringIds": ["ALTER TABLE NVTX_EVENTS DROP COLUMN text"],
}


def test_c50_every_table_of_ranges_gives_one_result(tmp_path: Path) -> None:
    found = []
    for name, statements in NVTX_TABLES.items():
        export = job()
        for statement in statements:
            export.sql(statement)
        (tmp_path / name).mkdir()
        found.append(answered(analyze_exports(tmp_path / name, export, options=STEP)))

    assert found[0]["gpus"][0]["window_end_ns"] == 100
    assert found == [found[0]] * len(NVTX_TABLES)


# table, the question of info that it leaves open and its answer, and what analyses make of it
DROPPED = {
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("idle_causes", "it holds no CUDA calls", "-t cuda"),
    "NVTX_EVENTS": ("ranges", "it holds no NVTX ranges", "-t nvtx, with NVTX ranges in the program"),
}


@pytest.mark.parametrize("table", DROPPED)
def test_c65_a_missing_table_leaves_its_question_open_and_no_other(tmp_path: Path, table: str) -> None:
    whole = job().write(tmp_path / "whole.sqlite")
    path = job().sql(f"DROP TABLE {table}").write(tmp_path / "rank0.sqlite")
    before, after = (survey_report(each, ReadOptions()).open_questions for each in (whole, path))

    [question] = [question for question in after if question not in before]

    assert (question.id, question.reason, question.recapture) == DROPPED[table]
    partial, complete = (answered(analyze([each], AnalyzeOptions()))["gpus"] for each in (path, whole))
    # why a GPU was idle is the question that calls answer
    assert (partial[0].pop("idle_causes") is None) == (question.id == "idle_causes")
    assert complete[0].pop("idle_causes") is not None
    assert partial == complete


def test_c65_without_ranges_a_range_is_refused_with_what_to_record(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no ranges, so --range cannot choose one") as caught:
        analyze_exports(tmp_path, job().sql("DROP TABLE NVTX_EVENTS"), options=STEP)

    assert caught.value.hint == "Record with -t cuda,nvtx."


def test_c65_without_copies_the_kernels_are_judged(tmp_path: Path) -> None:
    """A table of copies is written only where there are any: GPU work without it had none."""
    run = analyze_exports(tmp_path, job().sql("DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY"))

    assert result_of(run, CopySummary).copies == ()
    assert [(row.name, row.total_ns) for row in result_of(run, KernelSummary).kernels] == [("gemm", 50)]
    assert [gpu.time.compute_only_ns for gpu in result_of(run, GpuTime).gpus] == [50]


@pytest.mark.parametrize("column", ["copyKind", "bytes"])
def test_c65_a_missing_column_is_unknown_and_the_others_count(tmp_path: Path, column: str) -> None:
    run = analyze_exports(tmp_path, job().sql(f"ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN {column}"))

    [copy] = result_of(run, CopySummary).copies
    assert copy.total_ns == 20
    assert copy.size_bytes == (None if column == "bytes" else 64)


@pytest.mark.parametrize("wanted", ["7", "gpu2", "GPU-absent"])
def test_c71_a_gpu_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path, wanted: str) -> None:
    export = Export().gpu(0, "A", uuid="u0").gpu(1, "B", uuid="u1")
    for device in (0, 1):
        export.cuda_device(device_id=device, gpu_id=device, uuid=f"u{device}").kernel(0, 9, "gemm", device=device)

    with pytest.raises(UsageError, match=f"There is no GPU '{wanted}' in this run") as caught:
        analyze_exports(tmp_path, export, options=AnalyzeOptions(gpu=wanted))

    assert caught.value.hint == "GPUs here: gpu0 (A), gpu1 (B)."


def test_c72_two_instances_of_one_gpu_are_two_rows_that_can_be_chosen(tmp_path: Path) -> None:
    export = Export().gpu(0, uuid="GPU-1", sm_count=132, bus_location="0000:01:00.0")
    for pid, uuid in ((100, "MIG-a"), (200, "MIG-b")):
        export.cuda_device(pid=pid, gpu_id=0, uuid=uuid, sm_count=60).kernel(0, pid, "gemm", pid=pid)

    run = analyze_exports(tmp_path, export)
    chosen = analyze_exports(tmp_path, export, options=AnalyzeOptions(gpu="MIG-b"))

    both = [(gpu.uuid, gpu.time.compute_only_ns) for gpu in result_of(run, GpuTime).gpus]
    assert both == [("MIG-a", 100), ("MIG-b", 200)]
    assert [gpu.uuid for gpu in result_of(chosen, GpuTime).gpus] == ["MIG-b"]
    assert result_of(run, Baseline).baseline.mfu is None


def test_c75_a_gpu_without_a_name_gets_none_and_no_peak(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 9, "gemm"))

    assert [(gpu.name, gpu.uuid) for gpu in result_of(run, GpuTime).gpus] == [(None, None)]
    assert result_of(run, Baseline).baseline.mfu is None
    questions = survey_report(tmp_path / "rank0.sqlite", ReadOptions()).open_questions
    assert "gpu_identity" in {question.id for question in questions}


def test_m14_no_format_is_one_that_a_spreadsheet_evaluates() -> None:
    """The day there is a CSV, cells that begin with one of = + - @ must be quoted in it, and this test is to say so."""
    assert {renderer.suffix for renderer in renderers().values()} <= {".html", ".txt", ".json", ".md"}


EVIDENCE = {Profiles, SampledGpus, NcclLogs, NcclTests, SchedulerAccounts, TrainingLogs}


def test_nothing_recorded_at_all_is_skipped_by_every_analysis_with_what_to_record(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export())

    found = run.results.get(GpuTime)
    assert isinstance(found, Skipped)
    # of evidence none was given, which is an answer
    assert set(map(type, run.results.found())) == EVIDENCE
    assert {skipped.recapture for skipped in run.results.skipped()} == {found.recapture}


def test_what_the_host_did_is_read_only_where_an_answer_needs_it(tmp_path: Path) -> None:
    """The partition is the same; what only the calls tell is null, not zero."""
    export = Export()
    for begin_ns in (0, 100):
        export.call(begin_ns, begin_ns + 10, "cudaLaunchKernel", correlation=1 + begin_ns)
        export.kernel(begin_ns + 20, begin_ns + 50, "gemm", correlation=1 + begin_ns)
    path = export.write(tmp_path / "rank0.sqlite")

    whole, narrow = (analyze([path], AnalyzeOptions(only=only)) for only in ((), ("gpu_time", "idle_gaps")))
    with_causes = analyze([path], AnalyzeOptions(only=("idle_causes",)))

    (gpu,), (narrow_gpu,), (caused_gpu,) = (result_of(run, GpuTime).gpus for run in (whole, narrow, with_causes))
    assert (narrow_gpu.time, narrow_gpu.idle_causes) == (gpu.time, None)
    assert caused_gpu.idle_causes == gpu.idle_causes is not None
    assert result_of(narrow, GpuTime).job.unseen_graph_launch_count is None
    assert [gap.causes for gap in result_of(narrow, IdleGaps).gaps] == [None]
