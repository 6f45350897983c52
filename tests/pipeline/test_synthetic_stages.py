"""The stages that nsysan finds in simulated jobs are those of their programs, as far as they can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.attribution.job import Job, build_job
from nsysan.attribution.stages.codes import SOURCES, STAGES
from nsysan.attribution.stages.device import StepStages
from nsysan.attribution.stages.tiles import NOT_ASSIGNED
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.partition import Part, PartTimes
from nsysan.model.stages import Stage
from nsysan.synth.export import Export
from nsysan.synth.generate import generate
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import Scenario, all_scenarios, find_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.arrays import Int64Array
    from nsysan.synth.truth.job_truth import RankTruth

NAMING = (
    ("pytorch", FileFormat.SQLITE),
    ("pytorch", FileFormat.KINETO),
    ("lightning", FileFormat.SQLITE),
    ("deepspeed", FileFormat.KINETO),
)
"""Spellings with ranges for forward, backward and optimizer; DeepSpeed alone has none around a step."""


def found_stages(folder: Path, request: Request) -> list[tuple[RankTruth, StepStages]]:
    """The stages of every rank's steps, and the truth about it."""
    generated = generate(request)
    paths = [export.write(folder / name) for name, export in generated.exports.items()]
    job = build_job([read_trace(path, ReadOptions()) for path in paths])
    return [(rank, _stages_of(job, rank)) for rank in generated.truth.ranks]


def _stages_of(job: Job, rank: RankTruth) -> StepStages:
    [device] = [found for found in job.devices if (found.pid, found.device_id) == (rank.pid, rank.device_id)]
    staged, idle = job.stages.staged_work(device), job.idle.of_device(device)
    assert staged is not None
    return staged.step_times(None if idle is None else idle.pieces)


def by_stage(device_ns: Int64Array) -> tuple[dict[Stage, PartTimes], int]:
    """The time of all steps by stage and part, and what belongs to no stage."""
    totals_ns = device_ns.sum(axis=0)
    of_stages_ns = totals_ns[:NOT_ASSIGNED].reshape(len(STAGES), len(SOURCES), len(Part)).sum(axis=1)
    times = {stage: PartTimes(*of_stages_ns[place].tolist()) for place, stage in enumerate(STAGES)}
    return times, int(totals_ns[NOT_ASSIGNED:].sum())


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_where_ranges_name_the_phases_stages_are_exact(tmp_path: Path, scenario: Scenario) -> None:
    for rank, found in found_stages(tmp_path, Request(scenario=scenario, rank_count=4, step_count=3)):
        assert by_stage(found.device_ns) == ({truth.stage: truth.time for truth in rank.stages}, 0)
        assert found.host_ns is not None
        assert found.host_ns.sum(axis=0).tolist() == [*(truth.host_ns for truth in rank.stages), 0]
        # they tile each step
        steps_ns = [step.end_ns - step.start_ns for step in rank.steps]
        assert found.device_ns.sum(axis=(1, 2)).tolist() == steps_ns


@pytest.mark.parametrize(("spelling", "file_format"), NAMING)
def test_every_framework_that_names_phases_is_understood(
    tmp_path: Path, spelling: str, file_format: FileFormat
) -> None:
    request = Request(
        scenario=find_scenario("healthy"), rank_count=2, step_count=3, spelling=spelling, file_format=file_format
    )
    for rank, found in found_stages(tmp_path, request):
        assert by_stage(found.device_ns) == ({truth.stage: truth.time for truth in rank.stages}, 0)


@pytest.mark.parametrize("spelling", ["megatron-bridge", "jax"])
def test_where_no_range_names_forward_and_backward_kernels_and_their_order_tell_them(
    tmp_path: Path, spelling: str
) -> None:
    request = Request(scenario=find_scenario("healthy"), rank_count=2, step_count=3, spelling=spelling)

    for rank, found in found_stages(tmp_path, request):
        times, unassigned_ns = by_stage(found.device_ns)
        assert unassigned_ns == 0
        # nothing says that the loader loads where no range does, and no idle time waits for it here
        assert times == {truth.stage: truth.time for truth in rank.stages}


def test_without_any_range_what_nothing_tells_is_of_no_stage(tmp_path: Path) -> None:
    """One rank has no gradients to reduce: what clips them, between backward and optimizer, could be of either."""
    generated = generate(Request(scenario=find_scenario("healthy"), rank_count=1, step_count=5))
    [(name, export)] = generated.exports.items()
    assert isinstance(export, Export)
    bare = export.sql("DELETE FROM NVTX_EVENTS").write(tmp_path / name)
    [rank] = generated.truth.ranks
    found = _stages_of(build_job([read_trace(bare, ReadOptions())]), rank)

    times, unassigned_ns = by_stage(found.device_ns)

    true_ns = {truth.stage: truth.time.window_ns / len(rank.steps) for truth in rank.stages}
    step_count = len(found.device_ns)
    assert times[Stage.FORWARD].window_ns / step_count == pytest.approx(true_ns[Stage.FORWARD], rel=0.001)
    assert times[Stage.BACKWARD].window_ns / step_count == pytest.approx(true_ns[Stage.BACKWARD], rel=0.001)
    update_ns = times[Stage.OPTIMIZER].window_ns + unassigned_ns
    assert update_ns / step_count == pytest.approx(true_ns[Stage.OPTIMIZER], rel=0.001)
    assert 0 < unassigned_ns < 0.1 * update_ns
