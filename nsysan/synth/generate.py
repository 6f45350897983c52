"""From a scenario to the exports of a simulated job, and what is true of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from nsysan.synth.export import Export
from nsysan.synth.kineto import KinetoTrace, kineto_traces
from nsysan.synth.placement import Placement
from nsysan.synth.recording import is_recorded, record
from nsysan.synth.recording_plan import RecordingPlan, repetition_of
from nsysan.synth.repetition import in_a_row
from nsysan.synth.request import FileFormat, Request, check_request
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.timelines import RankTimeline, Simulation
from nsysan.synth.system.memory import Footprint
from nsysan.synth.tables.schema import RELEASES, Release
from nsysan.synth.training.job import Job
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.layer import Layer
from nsysan.synth.truth.collective_truth import collective_truths
from nsysan.synth.truth.job_truth import SYNTHESIZED_BY, RankTruth, Recoverable, Truth, gemm_truths, rank_truth
from nsysan.synth.truth.repeated_truth import repeated_truth
from nsysan.synth.truth.step import mean_step_ns
from nsysan.synth.truth.system_truth import system_truth


class Generated(msgspec.Struct, frozen=True):
    """The exports (or traces) by file name, and what is true of them."""

    name: str
    exports: dict[str, Export] | dict[str, KinetoTrace]
    truth: Truth


def generate(request: Request) -> Generated:
    """Simulate the job with and without its cause. Raises UsageError where it is too small to show it."""
    check_request(request)
    simulation = _simulate(request, request.scenario.knobs)
    plan = _plan(request, simulation)
    everywhere = request.placements()
    places = [place for place in everywhere if place.rank not in request.omitted_ranks]
    recorded = _on_session_clocks(simulation, everywhere)
    truth = _truth(request, simulation, plan, tuple(_rank_truth(recorded, place, plan) for place in places))
    if request.file_format is FileFormat.KINETO:
        exports = kineto_traces(recorded, everywhere)
        return Generated(request.name, {file: exports[file] for file in truth.files}, truth)
    return Generated(request.name, record(recorded, places, plan), truth)


def _on_session_clocks(simulation: Simulation, places: Sequence[Placement]) -> Simulation:
    """Each rank with the times its own file holds."""
    ranks = tuple(simulation.ranks[place.rank].later(-place.session.start_ns) for place in places)
    return replace(simulation, ranks=ranks)


def _plan(request: Request, simulation: Simulation) -> RecordingPlan:
    knobs = request.scenario.knobs
    layer = Layer(knobs.token_count, knobs.hidden_size)
    numbering = request.step_spelling.numbering(request.step_count)
    return RecordingPlan(
        schema=request.schema,
        kinds=request.kinds,
        repetition=repetition_of(simulation, request.recording_count, numbering),
        footprint=Footprint(knobs.layer_count, layer.parameter_count, layer.activation_bytes),
        includes_blobs=request.includes_blobs,
    )


def _truth(request: Request, simulation: Simulation, plan: RecordingPlan, ranks: tuple[RankTruth, ...]) -> Truth:
    scenario = request.scenario
    return Truth(
        synthesized_by=SYNTHESIZED_BY,
        scenario=scenario.name,
        seed=request.seed,
        recording_count=plan.repetition.count,
        recording_period_ns=plan.repetition.period_ns,
        missing_ranks=tuple(sorted(request.omitted_ranks)),
        files=tuple(dict.fromkeys(rank.file for rank in ranks)),
        cause=scenario.cause,
        bottleneck_class=scenario.bottleneck_class,
        slow_rank=scenario.knobs.slow_rank,
        recoverable=_recoverable(request, simulation),
        ranks=ranks,
        collectives=collective_truths(simulation),
        gemms=gemm_truths(simulation, plan.repetition.count),
    )


def _rank_truth(simulation: Simulation, place: Placement, plan: RecordingPlan) -> RankTruth:
    timeline, release, repetition = simulation.ranks[place.rank], RELEASES[plan.schema], plan.repetition
    truth = _truth_of(timeline, place, release)
    if repetition.count > 1:
        truth = repeated_truth(truth, _truth_of(in_a_row(timeline, repetition, 2), place, release), repetition)
    return replace(truth, system=system_truth(timeline, plan, truth.time.window_ns))


def _truth_of(timeline: RankTimeline, place: Placement, release: Release) -> RankTruth:
    recorded = [work for work in timeline.works if is_recorded(work.task.kind, release)]
    return rank_truth(timeline, place, recorded)


def _simulate(request: Request, knobs: Knobs) -> Simulation:
    device_ids = tuple(place.device_id for place in request.placements()) if request.includes_blobs else ()
    job = Job(
        knobs=knobs,
        rank_count=request.rank_count,
        step_count=request.step_count,
        seed=request.seed,
        parallelism=request.scenario.parallelism,
        spelling=request.step_spelling,
        device_ids=device_ids,
    )
    return simulate(job.programs())


def _recoverable(request: Request, simulation: Simulation) -> Recoverable:
    with_ns = round(mean_step_ns(simulation))
    if request.scenario.without is None:
        return Recoverable(with_ns, None, None)
    without_ns = round(mean_step_ns(_simulate(request, request.scenario.without)))
    return Recoverable(with_ns, without_ns, with_ns - without_ns)
