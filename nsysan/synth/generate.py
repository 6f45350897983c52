"""From a scenario to the exports of a simulated job, and what is true of them."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.model.errors import UsageError
from nsysan.synth.engine import simulate
from nsysan.synth.export import Export
from nsysan.synth.knobs import Knobs
from nsysan.synth.placement import Layout, placements
from nsysan.synth.recording import record
from nsysan.synth.scenario import Scenario
from nsysan.synth.simulation import Simulation
from nsysan.synth.step import mean_step_ns
from nsysan.synth.transformer import Job
from nsysan.synth.truth import (
    SYNTHESIZED_BY,
    Recoverable,
    Truth,
    collective_truth,
    gemm_truths,
    rank_truth,
)

LEAST_STEP_COUNT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Which job to simulate, and how to record it."""

    scenario: Scenario
    rank_count: int = 4
    step_count: int = 8
    seed: int = 0
    schema: str = "3.25"
    layout: Layout = Layout.ONE

    @property
    def name(self) -> str:
        """The stem of the files."""
        return self.scenario.name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Generated:
    """The exports by file name, and what is true of them."""

    name: str
    exports: dict[str, Export]
    truth: Truth


def generate(request: Request) -> Generated:
    """Simulate the job with and without its cause. Raises UsageError where it is too small to show it."""
    _check(request)
    simulation = _simulate(request, request.scenario.knobs)
    places = placements(request.name, request.rank_count, request.layout)
    truth = Truth(
        synthesized_by=SYNTHESIZED_BY,
        scenario=request.scenario.name,
        seed=request.seed,
        files=tuple(dict.fromkeys(place.file for place in places)),
        cause=request.scenario.cause,
        bottleneck_class=request.scenario.bottleneck_class,
        recoverable=_recoverable(request, simulation),
        ranks=tuple(rank_truth(simulation.ranks[place.rank], place) for place in places),
        collectives=tuple(map(collective_truth, simulation.collectives)),
        gemms=gemm_truths(simulation),
    )
    return Generated(request.name, record(simulation, places, request.schema), truth)


def _check(request: Request) -> None:
    scenario = request.scenario
    if request.rank_count < scenario.least_rank_count:
        raise UsageError(
            f"{request.name} needs {scenario.least_rank_count} ranks or more.", "Give a larger number with --ranks."
        )
    if request.step_count < LEAST_STEP_COUNT:
        raise UsageError("A step ends where the next begins, so there must be two.", "Give --steps 2 or more.")


def _simulate(request: Request, knobs: Knobs) -> Simulation:
    job = Job(knobs=knobs, rank_count=request.rank_count, step_count=request.step_count, seed=request.seed)
    return simulate(job.programs())


def _recoverable(request: Request, simulation: Simulation) -> Recoverable:
    with_ns = round(mean_step_ns(simulation))
    if request.scenario.without is None:
        return Recoverable(with_ns, None, None)
    without_ns = round(mean_step_ns(_simulate(request, request.scenario.without)))
    return Recoverable(with_ns, without_ns, with_ns - without_ns)
