"""A calibration of a real GPU. Skips where there is none; ``pytest -m gpu`` runs these alone."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from nsysan.calibrate.bench import KERNELS, Bench
from nsysan.calibrate.calibration import calibrate, measurements
from nsysan.calibrate.data_types import GEMM_TYPES
from nsysan.calibrate.libraries import native, nvrtc_for, open_library
from nsysan.calibrate.products import Matrices
from nsysan.calibrate.sampling import QUICK, batch
from nsysan.calibrate.shapes import Shape
from nsysan.cli.main import main
from nsysan.hardware.ceilings_json import read_ceilings
from nsysan.hardware.data_sheets import GpuFacts, sheet_of, upper_bounds
from nsysan.hardware.links import host_link
from nsysan.hardware.peak_rates import peak_flop_per_s
from nsysan.model.ceilings import (
    Ceilings,
    Direction,
    Dtype,
    HostMemory,
    Launch,
    Mode,
    Pattern,
    Regime,
    Transposes,
)
from nsysan.model.errors import MissingToolError
from tests.calibrate.test_ranks import free_port

pytestmark = pytest.mark.gpu


@pytest.fixture
def bench() -> Bench:
    if find_spec("nsysan.calibrate._native") is None:
        pytest.skip("the compiled module is not here")
    made = Bench(QUICK)
    try:
        assert made.devices
    except MissingToolError as error:
        pytest.skip(error.message)
    return made


# sides that no tile divides, where the data type allows them, so that a wrong leading dimension shows
ODD, EVEN = (513, 257, 385), (512, 256, 384)


@pytest.mark.parametrize("transposes", Transposes)
@pytest.mark.parametrize("dtype", Dtype)
def test_products_are_right(bench: Bench, dtype: Dtype, transposes: Transposes) -> None:
    if transposes not in GEMM_TYPES[dtype].transposes:
        pytest.skip(f"{dtype.value} is multiplied in one way of transposing")
    sides = ODD if dtype in {Dtype.FP64, Dtype.FP32} else EVEN
    matrices = Matrices.on(bench, dtype, Shape(*sides, transposes))
    assert matrices is not None
    gemm = matrices.gemm(bench, 32 << 20, 16)
    if not gemm.algorithm_count:
        assert dtype not in peak_flop_per_s(bench.device.facts.capability, 1, 1.0, is_geforce=False)
        pytest.skip(f"cuBLASLt proposes no algorithm for {dtype.value} on this GPU")
    assert {number: matrices.wrong_count(gemm, number) for number in range(gemm.algorithm_count)} == dict.fromkeys(
        range(gemm.algorithm_count), 0
    )


def test_kernels_move_what_they_say(bench: Bench) -> None:
    """Copy is b = a, triad c = a + 3 b, element by element; both from the code of nvcc, if any, and of NVRTC."""
    count = 1 << 16
    values = np.arange(4 * count, dtype=np.float32)
    a, b, c = (native().Buffer(bench.device, values.nbytes) for _ in range(3))
    source = KERNELS.joinpath("kernels.cu").read_text("utf-8")
    nvrtc, _ = open_library(native().Nvrtc, nvrtc_for(bench.driver.version))
    architecture = "sm_{}{}".format(*bench.device.facts.capability)
    for kernels in (bench.kernels, native().Kernels(bench.device, nvrtc.compile(source, architecture))):
        a.tile(values.tobytes())
        b.fill(0)
        kernels.time("stream_copy", 8, 256, [b, a, count], batch(1, 1, is_held=True))
        assert (np.frombuffer(b.read(0, values.nbytes), np.float32) == values).all()
        kernels.time("stream_triad", 8, 256, [c, a, b, count], batch(1, 1, is_held=True))
        assert (np.frombuffer(c.read(0, values.nbytes), np.float32) == 4 * values).all()


def test_a_held_stream_measures_what_a_free_one_does(bench: Bench) -> None:
    """Copies of 256 MiB take long enough for the host's speed not to matter."""
    a, b = (native().Buffer(bench.device, 256 << 20) for _ in range(2))
    held, free = (
        median(bench.kernels.time("stream_copy", 1024, 256, [b, a, 16 << 20], batch(20, 1, is_held=is_held)))
        for is_held in (True, False)
    )
    assert held == pytest.approx(free, rel=0.2)


def test_conditions_are_seen(bench: Bench) -> None:
    found = calibrate(bench, measurements(["memory"]), force=True)
    gpu, conditions = found.gpus[0], found.memory[0].conditions
    assert conditions is not None
    assert conditions.sm_clock_mean_hz is not None
    assert gpu.sm_clock_most_hz is not None
    assert 0.1 <= conditions.sm_clock_mean_hz / gpu.sm_clock_most_hz <= 1.0
    assert (found.driver_version or "").partition(".")[0].isdecimal()
    assert {"the NVIDIA driver", "NVML"} <= {one.name for one in found.libraries}


def test_copies_are_within_their_link(bench: Bench) -> None:
    found = calibrate(bench, measurements(["links"]), force=True)
    line = host_link(bench.device.facts.name).rate_bytes_per_s
    pinned = [one.bytes_per_s for one in found.links if one.host_memory is HostMemory.PINNED]
    assert max(pinned) <= line
    assert max(pinned) >= 1e9
    peers = {(one.gpu, one.peer) for one in found.links if one.direction is Direction.PEER_TO_PEER}
    lacking = {one.measurement for one in found.waived if one.measurement.startswith("link ")}
    count = len(bench.devices)
    assert len(peers) + len(lacking) == count * (count - 1)


def test_memory_is_given_back(bench: Bench) -> None:
    calibrate(bench, measurements(["memory", "links"]), force=True)
    before = bench.device.free_bytes
    calibrate(bench, measurements(["memory", "links"]), force=True)
    assert bench.device.free_bytes >= before - (64 << 20)


def test_figures_are_between_a_tenth_and_all_of_the_data_sheet(bench: Bench) -> None:
    facts = bench.device.facts
    found = calibrate(bench, measurements(["gemm", "memory", "launches"]), force=True)
    sheet = sheet_of(GpuFacts(facts.name, facts.sm_count, facts.capability, facts.sm_clock_khz * 1e3))
    assert sheet is not None
    bounds = upper_bounds(sheet, facts.sm_clock_khz * 1e3)
    best = {one.dtype: one.flop_per_s for one in found.gemm if (one.m, one.regime) == (8192, Regime.SUSTAINED)}
    assert Dtype.FP32 in best
    assert {dtype: 0.1 <= rate / bounds[dtype] <= 1.02 for dtype, rate in best.items() if dtype in bounds} == {
        dtype: True for dtype in best if dtype in bounds
    }
    copies = {one.pattern: one.bytes_per_s for one in found.memory}
    if sheet.memory_bytes_per_s is not None:
        assert 0.5 <= copies[Pattern.COPY] / sheet.memory_bytes_per_s <= 1.05
    launches = {one.launch: one.each_ns for one in found.launches}
    assert 200 <= launches[Launch.KERNEL_CALL] <= 100_000
    assert launches[Launch.GRAPH_NODE] <= launches[Launch.KERNEL_ROUND_TRIP]


def test_collectives_are_right(bench: Bench) -> None:
    if len(bench.devices) < 2:
        pytest.skip("one GPU has nobody to talk to")
    assert_collectives(calibrate(bench, measurements(["nccl"]), force=True), Mode.ONE_PROCESS)


def test_collectives_of_a_process_for_each_gpu_are_right(bench: Bench, tmp_path: Path) -> None:
    count, port = len(bench.devices), str(free_port())
    if count < 2:
        pytest.skip("one GPU has nobody to talk to")
    target = tmp_path / "ceilings.json"
    command = [
        sys.executable,
        "-m",
        "nsysan",
        "calibrate",
        "--quick",
        "--only",
        "nccl",
        "--force",
        "-q",
        "-o",
        str(target),
    ]
    told = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "NSYSAN_PORT": port}
    started = [
        subprocess.Popen(command, env={**os.environ, **told, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(count)
    ]
    assert [process.wait(timeout=600) for process in started] == [0] * count
    assert_collectives(read_ceilings(target), Mode.PROCESS_PER_GPU)


def assert_collectives(found: Ceilings, mode: Mode) -> None:
    """All kinds are there, and their data are right."""
    assert found.waived == ()
    assert len(found.collectives) == 7 * 2
    assert {curve.mode for curve in found.collectives} == {mode}
    assert {point.wrong_count for curve in found.collectives for point in curve.points} == {0}


@pytest.mark.usefixtures("bench")
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "ceilings.json"
    assert main(["calibrate", "--quick", "--only", "links,launches", "--force", "-o", str(target)]) == 0
    assert read_ceilings(target).links
    assert main(["ceilings", "show", str(target)]) == 0
    assert "host to device, pinned" in capsys.readouterr().out
