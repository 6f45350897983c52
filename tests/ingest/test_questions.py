"""Every question is open where its evidence is missing, and closed where any of it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.ingest.nsys.questions import QUESTIONS
from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.model.errors import InputError
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path

ALL = "CUPTI_ACTIVITY_KIND_"
ALWAYS = {
    "gpu_time",
    "ranges",
    "idle_causes",
    "os_waits",
    "context_switches",
    "cpu_samples",
    "memory",
    "gpu_metrics",
    "gpu_sharing",
    "gpu_identity",
}
"""What even an empty report is asked."""


def one_row(table: str, column: str = "start", value: str = "1") -> list[str]:
    return [f"CREATE TABLE IF NOT EXISTS {table} ({column})", f"INSERT INTO {table} ({column}) VALUES ({value})"]


def timed_row(table: str) -> list[str]:
    return one_row(table, 'start, "end", globalPid, deviceId', "1, 2, 3, 0")


RAISED_BY = {
    "kernels": one_row("StringIds", "id, value", "9004, 'cudaLaunchKernel_v7000'"),
    "nccl_bytes": one_row("StringIds", "id, value", "9000, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)'"),
    "network_counters": one_row("StringIds", "id, value", "9000, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)'"),
    "gemm_shapes": one_row(f"{ALL}KERNEL"),
    "graph_kernels": one_row("StringIds", "id, value", "9001, 'cudaGraphLaunch_v10000'"),
    "communicators": one_row("StringIds", "id, value", "9002, 'MPI_Allreduce'"),
    "device_identity": one_row(f"{ALL}MEMSET"),
}
"""Rows that raise a question which is not put to every report."""
ANSWERED_BY = {
    "gpu_time": [timed_row(f"{ALL}{kind}") for kind in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")],
    "kernels": [timed_row(f"{ALL}KERNEL"), timed_row(f"{ALL}GRAPH_TRACE")],
    "ranges": [one_row("NVTX_EVENTS", '"end"', "5"), one_row("NVTX_EVENTS_V2", '"end"', "5")],
    "idle_causes": [one_row(f"{ALL}RUNTIME")],
    "os_waits": [one_row("OSRT_API")],
    "context_switches": [one_row("SCHED_EVENTS")],
    "cpu_samples": [one_row("COMPOSITE_EVENTS")],
    "memory": [one_row("CUDA_GPU_MEMORY_USAGE_EVENTS")],
    "gpu_metrics": [one_row("GPU_METRICS"), one_row("GENERIC_EVENTS", "data", '\'{"SMs Active": "7"}\'')],
    "gpu_sharing": [one_row("GPU_CONTEXT_SWITCH_EVENTS"), one_row("FECS_EVENTS")],
    "network_counters": [one_row("NET_NIC_METRIC")],
    "nccl_bytes": [one_row("NVTX_EVENTS", "binaryData", "x'00'"), one_row("NVTX_EVENTS", "jsonText", "'{}'")],
    "gemm_shapes": [
        one_row("NVTX_EVENTS", "text", "'aten::mm, op_id = 1, sizes = [[2, 3], [3, 4]]'"),
        one_row("StringIds", "id, value", "9003, 'aten::mm, seq = 1, sizes = [[2, 3], [3, 4]]'"),
    ],
    "graph_kernels": [one_row(f"{ALL}KERNEL", "graphNodeId", "7")],
    "communicators": [
        one_row("MPI_COMMUNICATORS"),
        one_row("MPI_RANKS"),
        one_row("NVTX_EVENTS", "binaryData", "x'00'"),
    ],
    "gpu_identity": [one_row("TARGET_INFO_GPU", "name", "'NVIDIA H100'")],
    "device_identity": [one_row("TARGET_INFO_CUDA_DEVICE")],
}


def open_ids(path: Path, *statements: str) -> set[str]:
    """The questions open in an export that holds nothing but these rows."""
    export = Export()
    for statement in statements:
        export.sql(statement)
    asked = survey_report(export.write(path / "export.sqlite"), ReadOptions()).open_questions
    assert asked is not None
    return {question.id for question in asked}


def test_an_empty_report_is_asked_what_any_report_could_tell(tmp_path: Path) -> None:
    assert open_ids(tmp_path) == ALWAYS


def test_no_question_is_left_out_here() -> None:
    assert ANSWERED_BY.keys() == {question.id for question in QUESTIONS}
    assert RAISED_BY.keys() == ANSWERED_BY.keys() - ALWAYS


@pytest.mark.parametrize("question", ANSWERED_BY)
def test_a_question_is_closed_by_any_of_its_evidence_and_open_without(question: str, tmp_path: Path) -> None:
    raised = RAISED_BY.get(question, [])

    assert question in open_ids(tmp_path, *raised)
    for evidence in ANSWERED_BY[question]:
        assert question not in open_ids(tmp_path, *raised, *evidence)


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("gpu_time", f"{ALL}KERNEL"),
        ("ranges", "NVTX_EVENTS"),
        ("idle_causes", f"{ALL}RUNTIME"),
        ("gpu_identity", "TARGET_INFO_GPU"),
        ("device_identity", "TARGET_INFO_CUDA_DEVICE"),
    ],
)
def test_a_table_that_is_dropped_or_emptied_opens_its_question(question: str, table: str, tmp_path: Path) -> None:
    def made() -> Export:
        export = Export().gpu().cuda_device().memset(30, 40, 8).call(5, 9, "cudaLaunchKernel").nvtx(0, 50, "step")
        return export.kernel(10, 20, "gemm")

    def asked(export: Export) -> set[str]:
        found = survey_report(export.write(tmp_path / "export.sqlite"), ReadOptions()).open_questions
        assert found is not None
        return {each.id for each in found}

    without_gpu_work = [f"DROP TABLE {ALL}MEMSET"] if question == "gpu_time" else []
    dropped, emptied = made(), made()
    for statement in without_gpu_work:
        dropped.sql(statement)
        emptied.sql(statement)

    assert question not in asked(made())
    assert question in asked(dropped.sql(f"DROP TABLE {table}"))
    assert question in asked(emptied.sql(f"DELETE FROM {table}"))


@pytest.mark.parametrize("value", ["NULL", "0", "''"])
def test_a_column_that_holds_nothing_answers_nothing(value: str, tmp_path: Path) -> None:
    statements = [*RAISED_BY["graph_kernels"], *one_row(f"{ALL}KERNEL", "graphNodeId", value)]

    assert "graph_kernels" in open_ids(tmp_path, *statements)


def test_domains_alone_are_no_ranges(tmp_path: Path) -> None:
    """The package nvtx loses its ranges where it is newer than nsys, and only its domains are recorded."""
    path = Export().nvtx_domain(1, "NCCL").write(tmp_path / "export.sqlite")

    asked = survey_report(path, ReadOptions()).open_questions

    assert asked is not None
    assert "ranges" in {question.id for question in asked}


def test_an_answer_that_is_made_up_by_a_view_is_refused(tmp_path: Path) -> None:
    view = "CREATE VIEW MPI_RANKS AS SELECT 1 AS rank"

    with pytest.raises(InputError, match="has MPI_RANKS as a view or virtual table"):
        open_ids(tmp_path, *RAISED_BY["communicators"], view)
