"""What communicators are for: of simulated jobs as these know it, and by which words and traffic it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.collective_purposes import Told, purpose_in
from nsysan.analysis.collectives import Collectives
from nsysan.model.confidence import Confidence
from nsysan.model.purposes import Purpose
from nsysan.model.stages import Stage
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from tests.analysis.nccl_traces import ALL_REDUCE, COMMUNICATOR, MS, SEND_RECV, job, launched
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

SURE = {
    "healthy": {(0, 1, 2, 3): Confidence.MEDIUM},
    "tensor_parallel": dict.fromkeys([(0, 1), (2, 3), (0, 2), (1, 3)], Confidence.MEDIUM),
    # ranks that are neighbours share tensors more often than a pipeline
    "pipeline_bubble": dict.fromkeys([(0, 1), (1, 2), (2, 3)], Confidence.LOW),
    "moe_skew": {(0, 1, 2, 3): Confidence.MEDIUM},
}


@pytest.mark.parametrize("scenario", SURE)
def test_simulated_jobs_are_told_right(tmp_path: Path, scenario: str) -> None:
    [found] = [found for found in all_scenarios() if found.name == scenario]
    asked = Request(scenario=found, step_count=4, rank_count=4, includes_blobs=True, layout=Layout.PER_RANK)
    generated = generate(asked)
    paths = [export.write(tmp_path / name) for name, export in generated.exports.items()]

    rows = result_of(analyze(paths, AnalyzeOptions(only=("collectives",))), Collectives).collectives

    truth = {(one.ranks, one.purpose) for one in generated.truth.collectives}
    assert {(row.ranks, row.purpose) for row in rows} == truth
    assert {row.ranks: row.purpose_confidence for row in rows} == SURE[scenario]
    stages = {row.stage for row in rows if row.purpose is Purpose.TENSOR_PARALLEL}
    assert stages == ({Stage.FORWARD, Stage.BACKWARD} if scenario == "tensor_parallel" else set())


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("DATA_PARALLEL_GROUP_WITH_CP", None),
        ("mesh_dp", Purpose.DATA_PARALLEL),
        ("TENSOR_MODEL_PARALLEL_GROUP", Purpose.TENSOR_PARALLEL),
        ("pipeline model parallel", Purpose.PIPELINE_PARALLEL),
        ("ep", Purpose.EXPERT_PARALLEL),
        ("cp", Purpose.CONTEXT_PARALLEL),
        ("default_pg", None),
        ("", None),
    ],
)
def test_a_name_is_certain(name: str, purpose: Purpose | None) -> None:
    assert purpose_in(name) == (None if purpose is None else Told(purpose, Confidence.HIGH))


def purpose_of(folder: Path, call: str, kernel: str, *payloads: Payload) -> tuple[object, object]:
    """What a communicator of two ranks is told to be for, without steps; a payload for each rank's call."""
    export = job(100, 101)
    for pid, payload in zip((100, 101), payloads, strict=True):
        launched(export, pid, 5 * MS, (10 * MS, 20 * MS), kernel, {call: payload})
    [row] = result_of(analyze_exports(folder, export), Collectives).collectives
    return row.purpose, row.purpose_confidence


def test_without_steps_all_ranks_of_a_job_may_share_anything(tmp_path: Path) -> None:
    payload = Payload(PayloadSchema.ALL_REDUCE, (COMMUNICATOR, 300, 0))

    told = purpose_of(tmp_path, "ncclAllReduce", ALL_REDUCE, payload, payload)

    assert told == (None, None)


def test_one_rank_alone_shares_nothing(tmp_path: Path) -> None:
    export = job(100, rank_count=1)
    payload = Payload(PayloadSchema.ALL_REDUCE, (COMMUNICATOR, 300, 0))
    launched(export, 100, 5 * MS, (10 * MS, 20 * MS), ALL_REDUCE, {"ncclAllReduce": payload})

    [row] = result_of(analyze_exports(tmp_path, export), Collectives).collectives

    assert (row.purpose, row.purpose_confidence) == (None, None)


def test_messages_between_two_neighbours_may_be_of_a_pipeline(tmp_path: Path) -> None:
    payloads = (Payload(PayloadSchema.SEND, (COMMUNICATOR, 300, peer)) for peer in (1, 0))

    told = purpose_of(tmp_path, "ncclSend", SEND_RECV, *payloads)

    assert told == (Purpose.PIPELINE_PARALLEL, Confidence.LOW)
