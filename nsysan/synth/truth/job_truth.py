"""What is true of a synthetic trace, because the simulation made it so: the figures an analysis has to find."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from nsysan.model.kernels import Collective
from nsysan.model.partition import PartTimes
from nsysan.model.purposes import Purpose
from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.placement import Placement
from nsysan.synth.simulation.gemm import GemmShape
from nsysan.synth.simulation.timelines import GpuWork, RankTimeline, Simulation
from nsysan.synth.system.memory import MemoryTruth
from nsysan.synth.system.os_wait import HostTruth
from nsysan.synth.training.kernels import gemm_ceiling_ns
from nsysan.synth.truth.busy import Interval, idle_gaps, part_times, window_of
from nsysan.synth.truth.idle_cause import idle_causes
from nsysan.synth.truth.stages import StageTruth, stage_truths
from nsysan.synth.truth.step import StepTime, steps_of

SYNTHESIZED_BY = "nsysan synth"


class RecordedTruth(msgspec.Struct, frozen=True):
    """A GPU as its records show it where some of its work has none; ``unrecorded_ns`` is the sum of that work."""

    window_start_ns: int
    window_end_ns: int
    time: PartTimes
    idle_gap_count: int
    longest_idle_gap_ns: int
    unrecorded_count: int
    unrecorded_ns: int


class SystemTruth(msgspec.Struct, frozen=True):
    """What records besides CUDA and NVTX have to show; null where those were not asked for.

    ``counter_mean_percents`` are means over the GPU's window, without what sampling rounds.
    """

    host: HostTruth | None
    memory: MemoryTruth | None
    counter_mean_percents: dict[str, float] | None


class RankTruth(msgspec.Struct, frozen=True):
    """One rank's GPU over its window, first to last activity. ``idle_causes`` has keys ``<cause>_ns``.

    The file counts from ``session_start_ns`` of the job's clock, and states its UTC wrong by ``utc_error_ns``.
    ``as_recorded`` is null where the file holds all of its work, ``system`` where it holds CUDA and NVTX alone.
    """

    rank: int
    file: str
    host: str
    pid: int
    device_id: int
    gpu_uuid: str
    session_start_ns: int
    utc_error_ns: int
    window_start_ns: int
    window_end_ns: int
    time: PartTimes
    idle_gap_count: int
    longest_idle_gap_ns: int
    idle_causes: dict[str, int]
    steps: tuple[StepTime, ...]
    stages: tuple[StageTruth, ...]
    slowed_ns: int
    as_recorded: RecordedTruth | None
    system: SystemTruth | None = None


class CollectiveTruth(msgspec.Struct, frozen=True):
    """An instance, on the job's clock; what is by rank is in the order of ``ranks``.

    ``sequence`` counts the instances of the same ranks of a communicator from 0, in the order in which all of them run
    them. ``size_bytes`` is that of the whole array, of an all-to-all what a rank sends on average, of messages that of
    the largest; bytes sent and received are null where all ranks have the same. ``transfer_ns`` is the longest of any
    rank, a rank's wait the rest of its duration.
    """

    id: str
    kind: Collective
    communicator: str
    purpose: Purpose
    ranks: tuple[int, ...]
    root: int | None
    sequence: int
    size_bytes: int
    sent_by_rank_bytes: tuple[int, ...] | None
    received_by_rank_bytes: tuple[int, ...] | None
    start_by_rank_ns: tuple[int, ...]
    end_by_rank_ns: tuple[int, ...]
    transfer_ns: int
    wait_by_rank_ns: tuple[int, ...]


class GemmTruth(msgspec.Struct, frozen=True):
    """All GEMMs of one shape over all ranks; at its ceiling each of them would take ``ceiling_ns``."""

    m: int
    n: int
    k: int
    count: int
    total_ns: int
    ceiling_ns: int


class Recoverable(msgspec.Struct, frozen=True):
    """The mean step of the slowest rank with and without the cause, same seed. A healthy job has only the first."""

    mean_step_ns: int
    mean_step_without_ns: int | None
    recoverable_ns: int | None


class Truth(msgspec.Struct, frozen=True):
    """Everything true of the traces of one job. The times of a rank are on the axis of its file.

    ``ranks`` are those that have a file; what is true of all of them together, collectives included, is of the job.
    ``recoverable`` and ``collectives`` are those of the first recording: each later one has the same, a period later.
    """

    synthesized_by: str
    scenario: str
    seed: int
    recording_count: int
    recording_period_ns: int
    missing_ranks: tuple[int, ...]
    files: tuple[str, ...]
    cause: str | None
    bottleneck_class: BottleneckClass | None
    slow_rank: int | None
    recoverable: Recoverable
    ranks: tuple[RankTruth, ...]
    collectives: tuple[CollectiveTruth, ...]
    gemms: tuple[GemmTruth, ...]


def encode_truth(truth: Truth) -> bytes:
    """The truth as indented JSON, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(truth), indent=1) + b"\n"


def decode_truth(data: bytes) -> Truth:
    """The truth behind ``data``. Raises msgspec.DecodeError where it is none."""
    return msgspec.json.decode(data, type=Truth)


def rank_truth(timeline: RankTimeline, place: Placement, recorded: Sequence[GpuWork]) -> RankTruth:
    """What is true of one rank's GPU, of whose work the file holds what is ``recorded``."""
    window_start_ns, window_end_ns = window_of(timeline.works)
    gaps = idle_gaps(timeline.works)
    return RankTruth(
        rank=place.rank,
        file=place.file,
        host=place.host,
        pid=place.pid,
        device_id=place.device_id,
        gpu_uuid=place.uuid,
        session_start_ns=place.session.start_ns,
        utc_error_ns=place.session.utc_error_ns,
        window_start_ns=window_start_ns,
        window_end_ns=window_end_ns,
        time=part_times(timeline.works),
        idle_gap_count=len(gaps),
        longest_idle_gap_ns=_longest(gaps),
        idle_causes={f"{cause}_ns": time_ns for cause, time_ns in sorted(idle_causes(timeline).items())},
        steps=steps_of(timeline),
        stages=stage_truths(timeline),
        slowed_ns=sum(work.task.slowed_ns for work in timeline.works),
        as_recorded=None if len(recorded) == len(timeline.works) else _recorded_truth(timeline.works, recorded),
    )


def _recorded_truth(works: Sequence[GpuWork], recorded: Sequence[GpuWork]) -> RecordedTruth:
    window_start_ns, window_end_ns = window_of(recorded)
    gaps = idle_gaps(recorded)
    return RecordedTruth(
        window_start_ns=window_start_ns,
        window_end_ns=window_end_ns,
        time=part_times(recorded),
        idle_gap_count=len(gaps),
        longest_idle_gap_ns=_longest(gaps),
        unrecorded_count=len(works) - len(recorded),
        unrecorded_ns=_total_ns(works) - _total_ns(recorded),
    )


def _longest(gaps: Sequence[Interval]) -> int:
    return max((end_ns - start_ns for start_ns, end_ns in gaps), default=0)


def _total_ns(works: Sequence[GpuWork]) -> int:
    return sum(work.end_ns - work.start_ns for work in works)


def gemm_truths(simulation: Simulation, recording_count: int) -> tuple[GemmTruth, ...]:
    """Count and total time per shape, over all ranks and recordings."""
    durations_ns: defaultdict[GemmShape, list[int]] = defaultdict(list)
    for timeline in simulation.ranks:
        for work in timeline.works:
            if work.task.gemm is not None:
                durations_ns[work.task.gemm].append(work.end_ns - work.start_ns)
    return tuple(_gemm_truth(shape, found, recording_count) for shape, found in sorted(durations_ns.items()))


def _gemm_truth(shape: GemmShape, durations_ns: Sequence[int], recording_count: int) -> GemmTruth:
    count, total_ns = recording_count * len(durations_ns), recording_count * sum(durations_ns)
    return GemmTruth(shape.m, shape.n, shape.k, count, total_ns, gemm_ceiling_ns(shape))
