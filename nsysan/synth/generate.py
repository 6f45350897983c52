"""From a scenario to the exports of a simulated job, and what is true of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from nsysan.model.errors import UsageError
from nsysan.synth.export import Export
from nsysan.synth.kineto import KinetoTrace, kineto_traces
from nsysan.synth.placement import Layout, Placement, placements
from nsysan.synth.recording import is_recorded, record
from nsysan.synth.recording_plan import RecordingPlan, repetition_of
from nsysan.synth.repetition import in_a_row
from nsysan.synth.scenario import Scenario
from nsysan.synth.session import session_of
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.timelines import RankTimeline, Simulation
from nsysan.synth.system.memory import Footprint
from nsysan.synth.tables.schema import RELEASES, Release
from nsysan.synth.trace_kind import USUAL_KINDS, TraceKind
from nsysan.synth.training.job import Job
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.layer import Layer
from nsysan.synth.training.spelling import SPELLINGS
from nsysan.synth.truth.collective_truth import collective_truths
from nsysan.synth.truth.job_truth import SYNTHESIZED_BY, RankTruth, Recoverable, Truth, gemm_truths, rank_truth
from nsysan.synth.truth.repeated_truth import repeated_truth
from nsysan.synth.truth.step import mean_step_ns
from nsysan.synth.truth.system_truth import system_truth

LEAST_STEP_COUNT = 2


class FileFormat(str, Enum):
    """As nsys would export the job to SQLite, or as PyTorch's profiler would write it."""

    SQLITE = "sqlite"
    KINETO = "kineto"


_SUFFIXES = {FileFormat.SQLITE: ".sqlite", FileFormat.KINETO: ".pt.trace.json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Which job to simulate, and how to record it; ``schema`` and ``layout`` are those of SQLite files.

    Of ``omitted_ranks`` there is no file. With a ``clock_error_ns`` every rank's session begins at a time of its own,
    which the clock of its host tells with an error up to that; None: all begin with the job. One that
    ``includes_blobs`` has the payloads of NCCL's ranges and begins before its communicators are made. ``spelling`` is
    the framework whose NVTX ranges are around steps and phases, of ``SPELLINGS``. The file holds records of ``kinds``,
    and the whole job ``recording_count`` times in a row.
    """

    scenario: Scenario
    rank_count: int = 4
    step_count: int = 8
    seed: int = 0
    schema: str = "3.25"
    layout: Layout = Layout.ONE
    omitted_ranks: frozenset[int] = frozenset()
    clock_error_ns: int | None = None
    file_format: FileFormat = FileFormat.SQLITE
    includes_blobs: bool = False
    spelling: str = "pytorch"
    kinds: frozenset[TraceKind] = USUAL_KINDS
    recording_count: int = 1

    @property
    def name(self) -> str:
        """The stem of the files."""
        return self.scenario.name.replace("_", "-")

    @property
    def has_file_of_each_rank(self) -> bool:
        """Whether ranks are recorded apart, as always by PyTorch's profiler."""
        return self.file_format is FileFormat.KINETO or self.layout is Layout.PER_RANK

    def placements(self) -> tuple[Placement, ...]:
        """Where each rank runs and is recorded."""
        layout = Layout.PER_RANK if self.has_file_of_each_rank else self.layout
        places = placements(self.name, self.rank_count, layout, _SUFFIXES[self.file_format])
        error_ns = self.clock_error_ns
        if error_ns is None:
            return places
        return tuple(
            replace(place, session=session_of(place.rank, place.host, self.seed, error_ns)) for place in places
        )


@dataclass(frozen=True, slots=True)
class Generated:
    """The exports (or traces) by file name, and what is true of them."""

    name: str
    exports: dict[str, Export] | dict[str, KinetoTrace]
    truth: Truth


def generate(request: Request) -> Generated:
    """Simulate the job with and without its cause. Raises UsageError where it is too small to show it."""
    _check(request)
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
    numbering = SPELLINGS[request.spelling].numbering(request.step_count)
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


def _check(request: Request) -> None:
    scenario = request.scenario
    if request.rank_count < scenario.least_rank_count:
        raise UsageError(
            f"{request.name} needs {scenario.least_rank_count} ranks or more.", "Give a larger number with --ranks."
        )
    _check_files(request)
    _check_kinds(request)
    _check_blobs(request)
    if scenario.knobs.captures_layers and request.file_format is FileFormat.KINETO:
        raise UsageError(
            f"{scenario.name} records CUDA graphs as a whole, where PyTorch's profiler records each kernel in them.",
            "Write it with --format sqlite.",
        )
    if request.step_count < LEAST_STEP_COUNT:
        raise UsageError("A step ends where the next begins, so there must be two.", "Give --steps 2 or more.")


def _check_kinds(request: Request) -> None:
    if TraceKind.CUDA not in request.kinds:
        raise UsageError("Without CUDA there is nothing to tell of a GPU.", "Name cuda among --trace.")
    is_plain = request.kinds == USUAL_KINDS and request.recording_count == 1
    if request.file_format is FileFormat.KINETO and not is_plain:
        raise UsageError(
            "PyTorch's profiler records CUDA calls, operators and GPU work, once.", "Leave --trace and --repeat out."
        )


def _check_blobs(request: Request) -> None:
    if not request.includes_blobs:
        return
    if request.file_format is FileFormat.KINETO or not RELEASES[request.schema].is_new:
        raise UsageError(
            "Only exports of schema 3.25 hold payloads of NVTX ranges.",
            "Leave --include-blobs out, or write --format sqlite with --schema 3.25.",
        )
    if TraceKind.NVTX not in request.kinds:
        raise UsageError("Without ranges there are no payloads.", "Leave --include-blobs out, or name nvtx in --trace.")


def _check_files(request: Request) -> None:
    if (request.omitted_ranks or request.clock_error_ns is not None) and not request.has_file_of_each_rank:
        raise UsageError("Files and clocks of ranks can only differ where each has a file.", "Add --layout per-rank.")
    if not request.omitted_ranks < set(range(request.rank_count)):
        raise UsageError(f"The ranks are 0 to {request.rank_count - 1}.", "Leave out some of them, not all.")


def _simulate(request: Request, knobs: Knobs) -> Simulation:
    device_ids = tuple(place.device_id for place in request.placements()) if request.includes_blobs else ()
    job = Job(
        knobs=knobs,
        rank_count=request.rank_count,
        step_count=request.step_count,
        seed=request.seed,
        parallelism=request.scenario.parallelism,
        spelling=SPELLINGS[request.spelling],
        device_ids=device_ids,
    )
    return simulate(job.programs())


def _recoverable(request: Request, simulation: Simulation) -> Recoverable:
    with_ns = round(mean_step_ns(simulation))
    if request.scenario.without is None:
        return Recoverable(with_ns, None, None)
    without_ns = round(mean_step_ns(_simulate(request, request.scenario.without)))
    return Recoverable(with_ns, without_ns, with_ns - without_ns)
