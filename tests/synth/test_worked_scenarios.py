"""The jobs of the worked case: what is simulated is what is found, and each rank stands for many."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import Scenario, find_scenario, worked_scenarios
from nsysan.synth.training.network import Network
from tests.runs import result_of


@pytest.mark.parametrize("scenario", worked_scenarios(), ids=lambda scenario: scenario.name)
def test_the_partition_is_the_truth(tmp_path: Path, scenario: Scenario) -> None:
    made = generate(Request(scenario=scenario, rank_count=2, step_count=2, layout=Layout.PER_RANK))

    run = analyze([export.write(tmp_path / name) for name, export in made.exports.items()], AnalyzeOptions())

    assert [device.time for device in result_of(run, GpuTime).devices] == [rank.time for rank in made.truth.ranks]


@pytest.mark.parametrize(("name", "reduced_count"), [("case_128_gpus", 4), ("case_128_gpus_mended", 2)])
def test_gradients_are_reduced_after_each_part_or_once(name: str, reduced_count: int) -> None:
    made = generate(Request(scenario=find_scenario(name), rank_count=2, step_count=2))

    assert len(made.truth.collectives) == 2 * reduced_count


def test_a_collective_takes_as_long_as_over_the_ranks_that_are_stood_for() -> None:
    alone, standing = Network(1e9), Network(1e9, alike_ranks=32)

    assert standing.collective_ns(Collective.ALL_REDUCE, 1_000, 4) == alone.collective_ns(
        Collective.ALL_REDUCE, 1_000, 128
    )


def test_ranks_of_a_node_share_its_host() -> None:
    request = Request(scenario=find_scenario("case_128_gpus"), rank_count=4, layout=Layout.PER_RANK)

    assert [place.host for place in request.placements()] == ["node0", "node0", "node1", "node1"]


def test_without_its_cause_a_job_is_the_truths_job_without_it() -> None:
    scenario = find_scenario("data_bound")
    request = Request(scenario=scenario, rank_count=1, step_count=3)

    with_it, without = generate(request).truth, generate(replace(request, scenario=scenario.without_cause())).truth

    assert (without.cause, without.bottleneck_class) == (None, None)
    assert with_it.recoverable is not None
    assert without.recoverable is not None
    assert without.recoverable.mean_step_ns == with_it.recoverable.mean_step_without_ns


def test_where_nothing_holds_a_job_back_nothing_can_be_taken_away() -> None:
    with pytest.raises(UsageError, match="Nothing holds healthy back"):
        find_scenario("healthy").without_cause()
