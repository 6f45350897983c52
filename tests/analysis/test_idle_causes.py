"""Idle time by cause over all GPUs."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_causes import ANALYSIS, CauseOfIdle, IdleByCause
from nsysan.attribution.job import build_job
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.idle import Cause
from nsysan.model.partition import PartTimes
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export
from tests.report.gpu_times import causes_of, gpu, gpu_time

NO_JOB = build_job([])
MS = 1_000_000


def computed(*found: GpuTime | Skipped) -> IdleByCause | Skipped:
    result = ANALYSIS.compute(NO_JOB, ResultSet({one.id: one for one in found}))
    assert isinstance(result, IdleByCause | Skipped)
    return result


def test_causes_are_summed_over_the_gpus_and_shared_by_each_window() -> None:
    # in ms: windows of 100 and 400
    first = gpu("gpu0", PartTimes(60 * MS, 0, 0, 0, 0, 0, 40 * MS), causes=causes_of(data_loading=30, host_sync=10))
    second = gpu("gpu1", PartTimes(200 * MS, 0, 0, 0, 0, 0, 200 * MS), causes=causes_of(data_loading=200))

    assert computed(gpu_time((first, second))) == IdleByCause(
        (
            CauseOfIdle(Cause.DATA_LOADING, 230 * MS, mean_frac=0.4, worst_frac=0.5, worst_gpu="gpu1"),
            CauseOfIdle(Cause.HOST_SYNC, 10 * MS, mean_frac=0.05, worst_frac=0.1, worst_gpu="gpu0"),
        )
    )


def test_without_calls_it_is_said_what_records_them(tmp_path: Path) -> None:
    unexplained = gpu_time((replace(gpu("gpu0", PartTimes(60, 0, 0, 0, 0, 0, 40)), idle_causes=None),))
    job = build_job([read_trace(Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite"), ReadOptions())])

    assert ANALYSIS.compute(job, ResultSet({unexplained.id: unexplained})) == Skipped(
        "idle_causes",
        "no CUDA calls of the GPUs' processes were recorded",
        "Record CUDA calls as well: nsys profile -t cuda,nvtx ...",
    )


def test_without_gpu_work_the_reason_is_that() -> None:
    assert computed(Skipped("gpu_time", "the trace holds no GPU work", "Record it.")) == Skipped(
        "idle_causes", "the trace holds no GPU work", "Record it."
    )
