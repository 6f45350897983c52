"""Kernels that must have run and cannot be counted: how busy a GPU computed is then unknown, and never 0 %."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.model.missing_records import MissingRecords
from nsysan.model.results import Skipped
from nsysan.model.verdicts import Severity
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.verdict import state_verdict
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
FAR_NS = 2**53
ALL_LOST = {
    **{f"no {name}": f'ALTER TABLE {KERNELS} RENAME COLUMN "{name}" TO fin' for name in ("start", "end", "deviceId")},
    "no globalPid": f"ALTER TABLE {KERNELS} RENAME COLUMN globalPid TO fin",
    "times that cannot be": f'UPDATE {KERNELS} SET start = start - {FAR_NS}, "end" = "end" - {FAR_NS}',
    "emptied": f"DELETE FROM {KERNELS}",
    "dropped": f"DROP TABLE {KERNELS}",
}


def job(kernel_count: int) -> Export:
    """On two GPUs a copy, then kernels of 10 ns each, the call of every kernel with the driver's inside."""
    export = Export().copy(0, 10, 8).copy(0, 10, 8, device=1)
    for index in range(kernel_count):
        start_ns, correlation = 20 * index, 100 + index
        export.call(start_ns, start_ns + 4, "cudaLaunchKernel_v7000", correlation=correlation)
        export.call(start_ns + 1, start_ns + 3, "cuLaunchKernel", correlation=correlation, event_class=1)
        export.kernel(start_ns + 10, start_ns + 20, "gemm", device=index % 2, correlation=correlation)
    return export.call(5, 6, "cudaLaunchHostFunc", correlation=7)


@pytest.mark.parametrize("lost", ALL_LOST)
def test_without_any_kernel_it_is_not_known_what_was_computed(tmp_path: Path, lost: str) -> None:
    run = analyze_exports(tmp_path, job(4).sql(ALL_LOST[lost]))

    assert result_of(run, GpuTime).job.missing_records == {"kernels": MissingRecords(4, 0)}
    assert state_verdict(run).sentence == "What the GPUs computed is not known: no usable record is left of 4 kernels"
    figures = result_of(run, Baseline).baseline
    assert figures.compute_busy_frac is None
    assert figures.unknown["compute_busy_frac"].startswith("4 of 4 kernels left no usable record")
    assert isinstance(run.results.get(KernelSummary), Skipped)
    # and nobody is sent to look for collectives among kernels that are not there
    assert [(found.id, found.severity) for found in run.findings if found.severity is not Severity.INFO] == [
        ("missing_records", Severity.WARNING)
    ]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("lost", ALL_LOST)
def test_so_it_is_where_nothing_of_the_host_is_asked_for(tmp_path: Path, lost: str, count: int) -> None:
    paths = [
        job(4).host(f"node{place}").sql(ALL_LOST[lost]).write(tmp_path / f"{place}.sqlite") for place in range(count)
    ]

    run = analyze(paths, AnalyzeOptions(only=("partition", "gaps", "kernels")))

    told = f"What the GPUs computed is not known: no usable record is left of {4 * count} kernels"
    assert (state_verdict(run).sentence, len(run.reports)) == (told, count)


@pytest.mark.parametrize("lost", ALL_LOST)
def test_info_asks_what_was_computed(tmp_path: Path, lost: str) -> None:
    def asked(export: Export) -> set[str]:
        return {each.id for each in survey_report(export.write(tmp_path / "r.sqlite"), ReadOptions()).open_questions}

    assert {"gpu_time", "kernels"} & asked(job(4)) == set()
    assert {"gpu_time", "kernels"} & asked(job(4).sql(ALL_LOST[lost])) == {"kernels"}


@pytest.mark.parametrize(("kernel_count", "is_bound"), [(50, True), (51, False)])
def test_from_one_in_fifty_on_the_rest_is_a_bound(tmp_path: Path, kernel_count: int, *, is_bound: bool) -> None:
    run = analyze_exports(tmp_path, job(kernel_count).sql(f"UPDATE {KERNELS} SET start = 'x' WHERE rowid = 1"))

    counts = result_of(run, GpuTime).job.missing_records
    assert counts == {"kernels": MissingRecords(1, kernel_count - 1)}
    assert state_verdict(run).sentence.endswith("; at most, for 1 of 50 kernels left no usable record") == is_bound
    assert (result_of(run, Baseline).baseline.compute_busy_frac is None) == is_bound
    assert ("missing_records" in {found.id for found in run.findings}) == is_bound


def test_copies_that_are_missing_leave_idle_time_open(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, job(4).copy(0, 0, 8))

    assert result_of(run, GpuTime).job.missing_records == {"copies": MissingRecords(1, 2)}
    assert "1 of 3 copies left no usable record: idle time may have been busy" in {each.title for each in run.findings}
    # copying is no computing: 4 kernels of 10 ns in windows of 60 and 80 ns
    assert result_of(run, Baseline).baseline.compute_busy_frac == pytest.approx((20 / 60 + 20 / 80) / 2)


def test_launches_that_were_captured_into_graphs_are_no_missing_kernels(tmp_path: Path) -> None:
    export = Export().copy(0, 10, 8).call(1, 3, "cudaLaunchKernel").call(5, 9, "cudaGraphLaunch", correlation=50)

    run = analyze_exports(tmp_path, export.graph(10, 20, correlation=50))

    assert result_of(run, GpuTime).job.missing_records == {}


def test_what_ended_before_the_capture_is_rightly_left_out(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, job(4).kernel(-50, -10, "gemm"))

    assert result_of(run, GpuTime).job.missing_records == {}


def test_launches_without_any_gpu_work_say_so(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().call(1, 3, "cudaLaunchKernel").call(5, 7, "cudaLaunchKernel"))

    skipped = run.results.get(GpuTime)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "2 kernel launches left no record of a kernel, and there is no other GPU work"
