"""Collectives against measured curves: a slow link holds the job back, a busy or an unmeasured one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.model.ceilings import Ceilings, Origin
from nsysan.model.verdicts import BottleneckClass, Severity
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario
from tests.hardware.ceilings import ceilings, curve

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.run import Run

BUSBW_GB_PER_S = 15
"""What the all-reduces of communication_bound reach; over two ranks busbw is algbw."""
SIZES = (1 << 20, 1 << 28, 1 << 30)


def measured(gb_per_s: float) -> Ceilings:
    return ceilings(collectives=(curve({size: size / gb_per_s / 1e3 for size in SIZES}, ranks=2, factor=1.0),))


def run_against(folder: Path, given: Ceilings) -> Run:
    made = generate(
        Request(scenario=find_scenario("communication_bound"), rank_count=2, step_count=4, includes_blobs=True)
    )
    paths = [export.write(folder / file) for file, export in made.exports.items()]
    return analyze(paths, AnalyzeOptions(ceilings=given))


def test_links_far_below_what_they_were_measured_to_reach_are_the_headline(tmp_path: Path) -> None:
    scenario = find_scenario("communication_bound")
    sound = replace(scenario, without=replace(scenario.knobs, bus_bytes_per_s=450e9))
    truth = generate(Request(scenario=sound, rank_count=2, step_count=4)).truth

    run = run_against(tmp_path, measured(450))

    headline = run.diagnosis.headline
    assert headline is not None
    assert (headline.bottleneck_class, headline.cause) == (BottleneckClass.COMMUNICATION, "slow_link")
    [finding] = [one for one in run.findings if one.id == "slow_link"]
    assert finding.recoverable_ns == pytest.approx(truth.recoverable.recoverable_ns, rel=0.05)
    assert (finding.severity, finding.advice != ()) == (Severity.CRITICAL, True)
    assert "busbw 15.000 GB/s, 3.3 % of 450.000 GB/s (measured all_reduce of 2 ranks" in finding.evidence[1].sentence


@pytest.mark.parametrize(
    "given",
    # 61 % of the transfer runs beside computing: had it stood still then, the rest would be 39 % of the curve
    [measured(BUSBW_GB_PER_S / 0.28), replace(measured(450), origin=Origin.SIMULATED), ceilings()],
    ids=["70 % of 39 %", "simulated", "data sheet"],
)
def test_links_near_their_curve_or_without_one_are_not_called_slow(tmp_path: Path, given: Ceilings) -> None:
    run = run_against(tmp_path, given)

    assert run.diagnosis.headline is not None
    assert run.diagnosis.headline.cause == "exposed_collective"
    assert "slow_link" not in {one.id for one in run.findings}
