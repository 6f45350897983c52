"""Which job to simulate and how to record it, and what cannot be asked for."""

from __future__ import annotations

from enum import Enum

import msgspec
from msgspec.structs import replace

from nsysan.model.errors import UsageError
from nsysan.model.units import format_count
from nsysan.synth.placement import Layout, Placement, placements
from nsysan.synth.scenario import Scenario
from nsysan.synth.session import session_of
from nsysan.synth.tables.schema import RELEASES
from nsysan.synth.trace_kind import USUAL_KINDS, TraceKind
from nsysan.synth.training.spelling import SPELLINGS, Spelling

LEAST_STEP_COUNT = 2
MOST_RANK_STEPS = 1_000_000
"""Steps of all ranks in all recordings: of a usual job some 400 million kernels, which take a quarter of an hour."""


class FileFormat(str, Enum):
    """As nsys would export the job to SQLite, or as PyTorch's profiler would write it."""

    SQLITE = "sqlite"
    KINETO = "kineto"


_SUFFIXES = {FileFormat.SQLITE: ".sqlite", FileFormat.KINETO: ".pt.trace.json"}


class Request(msgspec.Struct, frozen=True, kw_only=True):
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
        return self.scenario.spelling

    @property
    def step_spelling(self) -> Spelling:
        """How the ranges around steps and phases are spelt, as what records the job has them."""
        spelling = SPELLINGS[self.spelling]
        return spelling.under_profiler() if self.file_format is FileFormat.KINETO else spelling

    @property
    def has_file_of_each_rank(self) -> bool:
        """Whether ranks are recorded apart, as always by PyTorch's profiler."""
        return self.file_format is FileFormat.KINETO or self.layout is Layout.PER_RANK

    def placements(self) -> tuple[Placement, ...]:
        """Where each rank runs and is recorded."""
        layout = Layout.PER_RANK if self.has_file_of_each_rank else self.layout
        suffix, per_node = _SUFFIXES[self.file_format], self.scenario.ranks_per_node
        places = placements(self.name, self.rank_count, layout, suffix, per_node)
        error_ns = self.clock_error_ns
        if error_ns is None:
            return places
        return tuple(
            replace(place, session=session_of(place.rank, place.host, self.seed, error_ns)) for place in places
        )


def check_request(request: Request) -> None:
    """Raise UsageError where no job or no file can be made as asked."""
    scenario = request.scenario
    if request.rank_count < scenario.least_rank_count:
        raise UsageError(
            f"{request.name} needs {scenario.least_rank_count} ranks or more.", "Give a larger number with --ranks."
        )
    _check_size(request)
    _check_files(request)
    _check_kinds(request)
    _check_blobs(request)
    if scenario.knobs.captures_layers and request.file_format is FileFormat.KINETO:
        raise UsageError(
            f"{request.name} records CUDA graphs as a whole, where PyTorch's profiler records each kernel in them.",
            "Write it with --format sqlite.",
        )
    if request.step_count < LEAST_STEP_COUNT:
        raise UsageError("A step ends where the next begins, so there must be two.", "Give --steps 2 or more.")


def _check_size(request: Request) -> None:
    rank_steps = request.rank_count * request.step_count * request.recording_count
    if rank_steps > MOST_RANK_STEPS:
        raise UsageError(
            f"{format_count(request.rank_count)} ranks x {format_count(request.step_count)} steps "
            f"x {format_count(request.recording_count)} recordings are over {format_count(MOST_RANK_STEPS)} steps.",
            "Give smaller numbers with --repeat, --steps or --ranks.",
        )


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
