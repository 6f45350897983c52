"""The verdict on computing beside ceilings: measured ones make a loss, simulated ones and data sheets only inform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.analysis.step_losses import StepLosses
from nsysan.hardware.simulated import simulate
from nsysan.model.ceilings import Ceilings, Dtype, Origin
from nsysan.model.verdicts import BottleneckClass, ClassState, Severity
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import Generated, generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from tests.hardware.ceilings import ceilings, gemm
from tests.runs import result_of

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.findings import Finding
    from nsysan.model.run import Run

TFLOP_PER_S = 700
"""What the simulated GPU multiplies at its best."""
H100 = "NVIDIA H100 80GB HBM3"


def generated(name: str) -> Generated:
    [scenario] = [scenario for scenario in all_scenarios() if scenario.name == name]
    return generate(Request(scenario=scenario, rank_count=2, step_count=4))


def measured(made: Generated) -> Ceilings:
    """Ceilings of the shapes that the job multiplies."""
    return ceilings(gemm=tuple(gemm(one.m, one.n, one.k, TFLOP_PER_S) for one in made.truth.gemms))


def run_of(made: Generated, folder: Path, given: Ceilings | None) -> Run:
    paths = [export.write(folder / file) for file, export in made.exports.items()]
    return analyze(paths, AnalyzeOptions(ceilings=given))


def about_gemms(run: Run) -> list[Finding]:
    return [found for found in run.findings if found.cause == "inefficient_gemm"]


def test_gemms_at_half_their_measured_ceiling_hold_the_job_back(tmp_path: Path) -> None:
    made = generated("compute_bound")
    recoverable = made.truth.recoverable.recoverable_ns

    run = run_of(made, tmp_path, measured(made))

    headline = run.diagnosis.headline
    assert headline is not None
    assert (headline.bottleneck_class, headline.cause) == (BottleneckClass.COMPUTE, "inefficient_gemm")
    assert headline.sentence.startswith("Compute holds the job back most: matrix products are slower than the GPU was ")
    [finding] = about_gemms(run)
    assert finding.recoverable_ns == pytest.approx(recoverable, rel=0.05)
    assert (finding.severity, finding.advice != ()) == (Severity.CRITICAL, True)
    assert any(one.place is not None for one in finding.evidence)
    assert run.diagnosis.classes[BottleneckClass.COMPUTE].state is ClassState.PROBLEM


def test_gemms_at_their_measured_ceiling_are_sound(tmp_path: Path) -> None:
    made = generated("compute_sound")

    diagnosis = run_of(made, tmp_path, measured(made)).diagnosis

    assert diagnosis.headline is None
    assert diagnosis.why == "No cause costs 2.0 % of the mean step or more."
    compute = diagnosis.classes[BottleneckClass.COMPUTE]
    assert compute.state is ClassState.OK
    assert (compute.sentence or "").endswith("of a step against measured ceilings.")


@pytest.mark.parametrize("given", [None, simulate(H100, "2026-01-01T00:00:00Z")], ids=["data sheet", "simulated"])
def test_what_was_not_measured_informs_and_wins_nothing(tmp_path: Path, given: Ceilings | None) -> None:
    run = run_of(generated("compute_bound"), tmp_path, given)

    assert run.diagnosis.headline is None
    assert [loss for loss in result_of(run, StepLosses).step_losses.causes if loss.cause == "inefficient_gemm"] == []
    [finding] = about_gemms(run)
    assert (finding.severity, finding.recoverable_ns) == (Severity.INFO, None)
    assert finding.title.endswith(", not measured")
    assert finding.title in (run.diagnosis.why or "")
    compute = run.diagnosis.classes[BottleneckClass.COMPUTE]
    assert compute.state is ClassState.UNKNOWN
    assert "of a step against a data sheet; what they can reach needs a measured ceiling." in (compute.sentence or "")


def test_seven_tenths_of_a_data_sheet_are_no_finding(tmp_path: Path) -> None:
    assert about_gemms(run_of(generated("compute_sound"), tmp_path, None)) == []


def test_ceilings_of_another_data_type_judge_nothing(tmp_path: Path) -> None:
    # the job multiplies bf16, for which the data sheet stands in
    made = generated("compute_bound")
    of_other_type = replace(measured(made), gemm=(gemm(8192, 8192, 8192, 50, dtype=Dtype.FP64),))

    run = run_of(made, tmp_path, of_other_type)

    assert run.diagnosis.headline is None
    assert [finding.recoverable_ns for finding in about_gemms(run)] == [None]


def test_an_imported_file_counts_as_measured(tmp_path: Path) -> None:
    made = generated("compute_bound")

    run = run_of(made, tmp_path, replace(measured(made), origin=Origin.IMPORTED))

    assert run.diagnosis.headline is not None
    assert run.diagnosis.headline.cause == "inefficient_gemm"
