"""A calibration of a real GPU. Skips where there is none; ``pytest -m gpu`` runs these alone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from nsysan.calibrate.bench import Bench
from nsysan.calibrate.calibration import calibrate, measurements
from nsysan.calibrate.products import Matrices
from nsysan.calibrate.sampling import QUICK
from nsysan.calibrate.shapes import Shape
from nsysan.cli.main import main
from nsysan.hardware.ceilings_json import read_ceilings
from nsysan.hardware.data_sheets import GpuFacts, sheet_of, upper_bounds
from nsysan.model.ceilings import Dtype, Launch, Pattern, Regime, Transposes
from nsysan.model.errors import MissingToolError

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


@pytest.mark.parametrize("transposes", Transposes)
def test_products_are_right(bench: Bench, transposes: Transposes) -> None:
    matrices = Matrices.on(bench, Dtype.FP32, Shape(512, 256, 384, transposes))
    assert matrices is not None
    assert matrices.wrong_count(matrices.gemm(bench, 1 << 20, 1), 0) == 0


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
    found = calibrate(bench, measurements(["nccl"]), force=True)
    assert {point.wrong_count for curve in found.collectives for point in curve.points} == {0}


@pytest.mark.usefixtures("bench")
def test_the_command(tmp_path: Path) -> None:
    target = tmp_path / "ceilings.json"
    assert main(["calibrate", "--quick", "--only", "links,launches", "--force", "-o", str(target)]) == 0
    assert read_ceilings(target).links
