"""Memory of GPUs, and what the steps hold of allocations and pageable copies: sums that can be done by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.analysis.baseline import compute_baseline
from nsysan.analysis.memory import (
    Memory,
    MemoryOfGpu,
    MemoryReport,
    MemorySource,
    PageFaultsOfDevice,
    compute_memory,
)
from nsysan.analysis.memory_in_steps import MemoryInSteps
from nsysan.attribution.job import build_job
from nsysan.cli.main import main
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export
from tests.ingest.torch_traces import annotation, kernel, memory, written

DEVICE = "r0/p100/d0"
GIB = 1 << 30


def memory_of(path: Path) -> MemoryReport:
    result = compute_memory(build_job([read_trace(path, ReadOptions())]), ResultSet({}))
    assert not isinstance(result, Skipped), result
    return result.memory


def stepped() -> Export:
    """Six steps of 100 ns: a marker, the call and the kernel of each; the last one is open."""
    export = Export().gpu(uuid="0-1", memory_bytes=80 * GIB).cuda_device(uuid="0-1")
    for step in range(7):
        begin_ns = 100 * step
        export.nvtx(begin_ns, begin_ns + 90, f"step {step}")
        export.call(begin_ns + 5, begin_ns + 9, "cudaLaunchKernel_v7000", correlation=step + 1)
        export.kernel(begin_ns + 10, begin_ns + 80, "gemm", correlation=step + 1)
    return export


def test_the_curve_of_a_gpu_that_two_processes_share(tmp_path: Path) -> None:
    export = Export().gpu(uuid="0-1", memory_bytes=80 * GIB)
    for pid in (100, 200):
        export.cuda_device(pid=pid, uuid="0-1").kernel(10, 90, "k", pid=pid)
    export.memory(20, 3 * GIB, 0xA, pid=100).memory(30, 2 * GIB, 0xA, pid=200).memory(40, 3 * GIB, 0xA, is_freed=True)

    found = memory_of(export.write(tmp_path / "r.sqlite"))

    curve = ((20, 3 * GIB), (30, 5 * GIB), (40, 2 * GIB))
    assert found.gpus == (
        MemoryOfGpu("gpu0", MemorySource.DRIVER_RESERVED, 80 * GIB, 0, 5 * GIB, 30, 2 * GIB, 3, curve),
    )


@pytest.mark.parametrize("size_bytes", [-1, 1 << 44, 2**63 - 1])
def test_a_block_that_no_gpu_holds_was_never_taken(tmp_path: Path, size_bytes: int) -> None:
    export = Export().gpu(uuid="0-1", memory_bytes=80 * GIB).cuda_device(uuid="0-1").kernel(10, 90, "k")
    export.memory(20, 3 * GIB, 0xA).memory(30, size_bytes, 0xB)

    [gpu] = memory_of(export.write(tmp_path / "r.sqlite")).gpus

    assert (gpu.peak_bytes, gpu.end_bytes, gpu.event_count) == (3 * GIB, 3 * GIB, 1)


def test_events_without_times_tell_no_peak(tmp_path: Path) -> None:
    # as nsys writes them on some systems: in order, but all at 0
    export = stepped().memory(0, 3 * GIB, 0xA).memory(0, 3 * GIB, 0xA, is_freed=True).memory(0, 2 * GIB, 0xB)

    found = memory_of(export.write(tmp_path / "r.sqlite"))

    assert found.gpus == ()
    assert found.unknown["gpus"] == "the memory events have no times, so what was taken at once is not known"


def test_calls_and_copies_of_steady_steps(tmp_path: Path) -> None:
    export = stepped()
    export.call(120, 130, "cudaMalloc_v3020").call(140, 145, "cudaFree_v3020").call(320, 327, "cuMemCreate")
    # before the first step, and on the host's side of another process
    export.call(2, 4, "cudaMalloc_v3020").call(250, 260, "cudaFree_v3020", pid=300)
    export.copy(150, 160, 4_000, src_memory=0).copy(260, 275, 500, kind=2, src_memory=2, dst_memory=0)
    export.copy(170, 175, 9_999)

    found = memory_of(export.write(tmp_path / "r.sqlite"))

    # steps of 100 ns: 110 to 210, ... 510 to 610; the first, 10 to 110, is like them
    assert found.in_steps == (MemoryInSteps(DEVICE, 6, 3, 22, 2, 2, 4_500, 25),)
    assert found.gpus == ()
    assert found.unknown["gpus"] == "the trace holds no memory events. Record with --cuda-memory-usage=true."


def test_page_faults_of_gpu_and_host(tmp_path: Path) -> None:
    export = stepped()
    export.gpu_page_fault(20, 60, 3).gpu_page_fault(50, 80, 2).host_page_fault(70).host_page_fault(75, pid=300)

    found = memory_of(export.write(tmp_path / "r.sqlite"))

    assert found.page_faults == (PageFaultsOfDevice(DEVICE, 5, 60, 1),)
    assert "page_faults" not in found.unknown


def test_without_anything_to_look_at_it_is_skipped(tmp_path: Path) -> None:
    path = Export().kernel(0, 10, "k").write(tmp_path / "r.sqlite")

    result = compute_memory(build_job([read_trace(path, ReadOptions())]), ResultSet({}))

    assert result == Skipped(
        "memory",
        "the trace holds no memory events, and no steps in which to look",
        "Record with --cuda-memory-usage=true.",
    )


@pytest.mark.parametrize("schema", ["3.7", "3.25"])
@pytest.mark.parametrize("scenario", ["allocator", "healthy"])
def test_the_peak_is_what_was_planted(schema: str, scenario: str, tmp_path: Path) -> None:
    arguments = ["synth", scenario, "--schema", schema, "--steps", "4", "--trace", "cuda,nvtx,memory"]
    assert main([*arguments, "-o", str(tmp_path)]) == 0
    truth = json.loads((tmp_path / f"{scenario}.truth.json").read_text())["ranks"]
    told = [rank["system"]["memory"] for rank in truth]

    found = memory_of(tmp_path / f"{scenario}.sqlite").gpus

    assert [(gpu.peak_bytes, gpu.end_bytes) for gpu in found] == [
        (rank["peak_bytes"], rank["end_bytes"]) for rank in told
    ]


def test_the_driver_s_peak_is_the_baseline_s(tmp_path: Path) -> None:
    from nsysan.analysis.gpu_time import compute_gpu_time

    export = stepped().memory(20, 3 * GIB, 0xA)
    job = build_job([read_trace(export.write(tmp_path / "r.sqlite"), ReadOptions())])
    results = ResultSet({"gpu_time": compute_gpu_time(job, ResultSet({}))})
    memory = compute_memory(job, results)
    assert isinstance(memory, Memory)

    baseline = compute_baseline(job, results.with_result("memory", memory))

    assert not isinstance(baseline, Skipped)
    assert (baseline.baseline.peak_memory_bytes, baseline.baseline.peak_memory_kind) == (
        3 * GIB,
        MemorySource.DRIVER_RESERVED,
    )
    assert "peak_memory_bytes" not in baseline.baseline.unknown


def test_pytorchs_allocator_is_told_apart_from_the_driver(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        annotation(0, 9),
        kernel(2, 5),
        memory(1, 300, 1_024),
        memory(3, 700, 2_048),
        memory(6, 200, 2_048),
        memory(4, 9_999, 9_999, device_type=0),
        memory(5, 1, 1) | {"name": "[something else]"},
    )

    found = memory_of(path)

    reserved = ((1_000, 1_024), (3_000, 2_048), (6_000, 2_048))
    used = ((1_000, 300), (3_000, 700), (6_000, 200))
    assert found.gpus == (
        MemoryOfGpu("gpu0", MemorySource.ALLOCATOR_RESERVED, None, 1_024, 2_048, 3_000, 2_048, 3, reserved),
        MemoryOfGpu("gpu0", MemorySource.ALLOCATOR_USED, None, 300, 700, 3_000, 200, 3, used),
    )
