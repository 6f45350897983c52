"""Theoretical occupancy: NVIDIA's published examples, and the mean over the kernels of a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.analysis.theoretical_occupancy import Occupancy, OccupancyOfKernel, compute_occupancy
from nsysan.attribution.job import build_job
from nsysan.hardware.occupancy import Limiter, TheoreticalOccupancy, theoretical_occupancy
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import text_hash
from nsysan.model.trace import SmLimits
from nsysan.synth.export import HOPPER, Export, KernelShape

VOLTA = SmLimits(7, 32, 64, 32, 65_536, 98_304)


@pytest.mark.parametrize(
    ("threads", "registers", "frac"),
    [(128, 37, 0.75), (320, 37, 0.625)],
    ids=["12 blocks of 128 threads", "four blocks of 320"],
)
def test_the_examples_of_the_best_practices_guide(threads: int, registers: int, frac: float) -> None:
    # CUDA C++ Best Practices Guide, "Calculating Occupancy": compute capability 7.0, 75 % and 63 %
    assert theoretical_occupancy(VOLTA, threads, registers, 0) == TheoreticalOccupancy(frac, Limiter.REGISTERS)


@pytest.mark.parametrize(
    ("threads", "registers", "shared_bytes", "frac", "limiter"),
    [
        (1_024, 32, 0, 1.0, Limiter.WARPS),
        (32, 16, 0, 0.5, Limiter.BLOCKS),  # 32 blocks of one warp
        (33, 16, 0, 1.0, Limiter.WARPS),  # a warp that is not full is a warp: 32 blocks of two
        (384, 154, 49_280, 0.1875, Limiter.REGISTERS),  # 160 x 32 = 5,120 a warp: 12 warps, one block
        (128, 32, 230_000, 0.0625, Limiter.SHARED_MEMORY),  # 231,040 of 233,472 bytes: one block of four warps
    ],
)
def test_what_limits_a_kernel_on_an_h100(
    threads: int, registers: int, shared_bytes: int, frac: float, limiter: Limiter
) -> None:
    assert theoretical_occupancy(HOPPER, threads, registers, shared_bytes) == TheoreticalOccupancy(frac, limiter)


@pytest.mark.parametrize(("threads", "registers", "shared_bytes"), [(0, 32, 0), (2_080, 32, 0), (128, 32, 300_000)])
def test_what_cannot_run_has_none(threads: int, registers: int, shared_bytes: int) -> None:
    assert theoretical_occupancy(HOPPER, threads, registers, shared_bytes) is None


def occupancy_of(path: Path) -> Occupancy | Skipped:
    return compute_occupancy(build_job([read_trace(path, ReadOptions())]), ResultSet({}))


@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_the_mean_is_weighted_by_time(schema: str, tmp_path: Path) -> None:
    export = Export(schema).gpu().kernel(0, 100, "full").kernel(100, 400, "gemm", shape=KernelShape(154, (384, 1, 1)))
    export.kernel(400, 500, "gemm", shape=KernelShape(32, (16, 16, 1)))

    found = occupancy_of(export.write(tmp_path / "r.sqlite"))

    # gemm: 300 ns at 3/16 and 100 ns at 1; all: that and 100 ns at 1
    rows = (
        OccupancyOfKernel("gemm", text_hash("gemm"), 2, 400, 156.25 / 400, 0.1875, Limiter.REGISTERS),
        OccupancyOfKernel("full", text_hash("full"), 1, 100, 1.0, 1.0, Limiter.WARPS),
    )
    assert found == Occupancy(rows, 256.25 / 500, 0)


def test_of_a_gpu_that_is_not_described_nothing_is_known(tmp_path: Path) -> None:
    found = occupancy_of(Export().gpu(sm=None).kernel(0, 100, "k").write(tmp_path / "r.sqlite"))

    assert isinstance(found, Skipped)
    assert found.reason == "the trace does not tell what kernels need and what the GPU holds"


H100 = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "computeMajor": 9,
    "computeMinor": 0,
    "warpSize": 32,
    "maxThreadsPerMultiprocessor": 2_048,
    "regsPerMultiprocessor": 65_536,
    "sharedMemPerMultiprocessor": 233_472,
}


def torch_trace(path: Path, gpu: dict[str, object], **needs: int) -> Path:
    where = {"device": 0, "stream": 7, "correlation": 9, "grid": [64, 1, 1], "block": [384, 1, 1]}
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 5, "dur": 3, "args": where | needs}
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": [kernel]}))
    return path


def test_traces_of_pytorch_tell_it_too(tmp_path: Path) -> None:
    path = torch_trace(tmp_path / "r.json", H100, **{"registers per thread": 154, "shared memory": 49_280})

    found = occupancy_of(path)

    row = OccupancyOfKernel("gemm", text_hash("gemm"), 1, 3_000, 0.1875, 0.1875, Limiter.REGISTERS)
    assert found == Occupancy((row,), 0.1875, 0)


@pytest.mark.parametrize(
    "odd", [{"computeMajor": 99}, {"warpSize": 0}, {"regsPerMultiprocessor": "many"}, {"id": None}]
)
def test_a_gpu_that_pytorch_describes_oddly_is_not_described(tmp_path: Path, odd: dict[str, object]) -> None:
    path = torch_trace(tmp_path / "r.json", H100 | odd, **{"registers per thread": 154, "shared memory": 0})

    assert isinstance(occupancy_of(path), Skipped)


def test_a_kernel_of_pytorch_whose_needs_are_not_told_has_no_occupancy(tmp_path: Path) -> None:
    assert isinstance(occupancy_of(torch_trace(tmp_path / "r.json", H100)), Skipped)
