"""The timeline: what every GPU did when, from the whole window down to single kernels where it is worth it.

What it holds is bounded by the constants here, whatever the number of kernels and GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.idle_gaps import Gap, IdleGaps
from nsysan.analysis.kernel_summary import KernelRow, KernelSummary
from nsysan.analysis.lanes.choice import choose_gpus
from nsysan.analysis.lanes.excerpt import excerpt_around
from nsysan.analysis.lanes.lane import COLUMNS, Lane, lane_of, lane_over
from nsysan.analysis.lanes.names import NameTable
from nsysan.analysis.lanes.places import KernelPlace, PartPlace, longest_kernels, longest_stretches
from nsysan.analysis.lanes.ranges import THREADS_PER_GPU, RangeRoom, ThreadRanges, threads_of
from nsysan.analysis.lanes.streams import STREAM_LIMIT, StreamLane, streams_of
from nsysan.analysis.rank_waits import RankWaits
from nsysan.analysis.registry import Analysis
from nsysan.attribution.clocks import Clock
from nsysan.attribution.devices import Gpu
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.job import Job
from nsysan.model.arrays import Int64Array
from nsysan.model.partition import PartTimes
from nsysan.model.results import ResultSet, Skipped
from nsysan.timeline.coverage import coverage, even_edges
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.occupancy import Occupancy

STRETCH_COUNT = 12
ALL_GPUS_PIECES = 4096
GPU_PIECES = 26_000
STREAM_PIECES = 26_000
ACTIVITIES = 22_000
OTHER_PIECES = 128_000
RANGES = 12_000
NAME_BYTES = 150_000
LATE_PAIRS = 4
"""Of so many pairs of ranks of which one waited for the other both have a lane."""
LANE_PIECES = 8192
"""No lane gets room for more; the other bounds are over all lanes."""


class GpuLanes(msgspec.Struct, frozen=True):
    """One GPU: its partition over time, its streams and the threads that drive it, on the clock of its report.

    ``shift_ns`` is what puts its times on the axis, the clock of the first report. ``exact`` are the stretches
    ``[start, end)`` in which every activity is in its stream's list and every piece holds a single part.
    """

    id: str
    shift_ns: int
    lane: Lane
    exact: tuple[tuple[int, int], ...]
    streams: tuple[StreamLane, ...]
    omitted_stream_count: int
    threads: tuple[ThreadRanges, ...]


class OtherLane(msgspec.Struct, frozen=True):
    """The partition over time of a GPU that is not among those shown at first, to lie beside any other."""

    id: str
    shift_ns: int
    lane: Lane


class Stretch(msgspec.Struct, frozen=True):
    """One of ``STRETCH_COUNT`` even stretches of the axis: the time of each part in it, summed over all GPUs."""

    start_ns: int
    end_ns: int
    time: PartTimes


class TimelineLanes(msgspec.Struct, frozen=True):
    """The axis from the first window's begin to the last one's end, and everything drawn on it.

    ``all_gpus`` is null with one GPU. ``lanes`` are of the GPUs shown, ``other_lanes`` of the rest of the ``gpu_count``
    that have a window; ``columns`` are what the bits of a piece stand for, ``names`` what activities and ranges refer
    to by number.
    """

    start_ns: int
    end_ns: int
    gpu_count: int
    columns: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    all_gpus: Lane | None
    lanes: tuple[GpuLanes, ...]
    kernel_places: tuple[KernelPlace, ...]
    part_places: tuple[PartPlace, ...]
    names: tuple[str, ...]
    other_lanes: tuple[OtherLane, ...] = ()


class Timeline(msgspec.Struct, frozen=True):
    """What every GPU did when."""

    id: ClassVar[str] = "timeline"

    timeline: TimelineLanes


def compute_timeline(job: Job, results: ResultSet) -> Timeline | Skipped:
    """The timeline of the job's windows; skipped where no GPU work was recorded, or none that takes time."""
    if not job.gpus:
        return no_gpu_work(Timeline.id, job)
    judged = [gpu for gpu in job.gpus if gpu.occupancy.window_ns]
    if not judged:
        return Skipped(Timeline.id, "the GPU work recorded takes no time at all", None)
    clocks = job.collectives.clocks
    occupancies = [_on_axis(gpu, clocks) for gpu in judged]
    start_ns = min(int(occupancy.bounds_ns[0]) for occupancy in occupancies)
    end_ns = max(int(occupancy.bounds_ns[-1]) for occupancy in occupancies)
    gaps, kernels = _found(results)
    shown = choose_gpus(judged, gaps, _late_gpus(job, results))
    places, stretched = longest_kernels(job, shown, kernels), longest_stretches(shown)
    names = NameTable(NAME_BYTES)
    room = _Room(job, clocks, names, len(shown))
    lanes = tuple(room.lanes_of(gpu, _places_on(gpu.id, gaps, stretched, places)) for gpu in shown)
    over_all = None
    if len(judged) > 1:
        over_all = lane_over(
            occupancies, _idle_on_axis(job, judged, clocks), even_edges(start_ns, end_ns, ALL_GPUS_PIECES)
        )
    stretches = tuple(_stretches(occupancies, even_edges(start_ns, end_ns, STRETCH_COUNT)))
    return Timeline(
        TimelineLanes(
            start_ns,
            end_ns,
            len(judged),
            COLUMNS,
            stretches,
            over_all,
            lanes,
            places,
            stretched,
            names.names,
            tuple(_other_lanes(job, _others(judged, shown), clocks)),
        )
    )


ANALYSIS = Analysis(Timeline, compute_timeline, needs=(IdleGaps, KernelSummary, RankWaits))


class _Room(msgspec.Struct, frozen=True):
    """What the lanes are made from, and how much of each bound one of ``gpu_count`` GPUs gets."""

    job: Job
    clocks: Sequence[Clock]
    names: NameTable
    gpu_count: int

    def lanes_of(self, gpu: Gpu, places_ns: Sequence[tuple[int, int]]) -> GpuLanes:
        """The lanes of one GPU, exact around the places while they fit."""
        excerpt = excerpt_around(gpu.activities, gpu.window_ns, places_ns, ACTIVITIES // self.gpu_count)
        idle = self.job.idle.of_gpu(gpu)
        pieces = None if idle is None else idle.pieces
        lane = lane_of(gpu.occupancy, excerpt.spans, min(LANE_PIECES, GPU_PIECES // self.gpu_count), pieces)
        stream_pieces = min(LANE_PIECES, STREAM_PIECES // (self.gpu_count * STREAM_LIMIT))
        streams, omitted = streams_of(self.job, gpu, excerpt, self.names, stream_pieces)
        ranges = RangeRoom(RANGES // (self.gpu_count * THREADS_PER_GPU), self.names, excerpt.spans)
        return GpuLanes(
            id=gpu.id,
            shift_ns=_shift_ns(gpu, self.clocks),
            lane=lane,
            exact=tuple(zip(excerpt.spans.start_ns.tolist(), excerpt.spans.end_ns.tolist(), strict=True)),
            streams=streams,
            omitted_stream_count=omitted,
            threads=threads_of(self.job, gpu, self.clocks, ranges),
        )


def _others(gpus: Sequence[Gpu], shown: Sequence[Gpu]) -> list[Gpu]:
    ids = {gpu.id for gpu in shown}
    return [gpu for gpu in gpus if gpu.id not in ids]


def _other_lanes(job: Job, gpus: Sequence[Gpu], clocks: Sequence[Clock]) -> Iterator[OtherLane]:
    """The lanes of GPUs of which nothing but the partition is shown."""
    nothing = np.empty(0, np.int64)
    for gpu in gpus:
        idle = job.idle.of_gpu(gpu)
        limit = min(LANE_PIECES, OTHER_PIECES // len(gpus))
        lane = lane_of(gpu.occupancy, Intervals(nothing, nothing), limit, None if idle is None else idle.pieces)
        yield OtherLane(gpu.id, _shift_ns(gpu, clocks), lane)


def _shift_ns(gpu: Gpu, clocks: Sequence[Clock]) -> int:
    """What puts the GPU on the axis, where its clock drifts as it is in the middle of its window."""
    return clocks[gpu.devices[0].report].at(sum(gpu.window_ns) // 2).shift_to(clocks[0])


def _on_axis(gpu: Gpu, clocks: Sequence[Clock]) -> Occupancy:
    shift_ns = _shift_ns(gpu, clocks)
    return Occupancy(gpu.occupancy.bounds_ns + shift_ns, gpu.occupancy.states) if shift_ns else gpu.occupancy


def _idle_on_axis(job: Job, gpus: Sequence[Gpu], clocks: Sequence[Clock]) -> Iterator[IdlePieces]:
    """The idle time by cause of each GPU for which it is known."""
    for gpu in gpus:
        idle = job.idle.of_gpu(gpu)
        if idle is not None:
            yield idle.pieces.shifted(_shift_ns(gpu, clocks))


def _late_gpus(job: Job, results: ResultSet) -> list[str]:
    """The GPUs of the ranks between which the longest waits are, to lie side by side."""
    waits = results.get(RankWaits)
    if isinstance(waits, Skipped):
        return []
    found = job.collectives
    device_of = {rank: member.id for member, rank in zip(found.members, found.ranks.of_member, strict=True)}
    gpu_of = {device.id: device.gpu_id for device in job.devices}
    pairs = waits.rank_waits[:LATE_PAIRS]
    ranks = dict.fromkeys(rank for pair in pairs for rank in (pair.awaited_rank, pair.rank))
    return [gpu_of[device_of[rank]] for rank in ranks if device_of.get(rank) in gpu_of]


def _found(results: ResultSet) -> tuple[Sequence[Gap], Sequence[KernelRow]]:
    """The gaps and kernels that the other results list; none where they were skipped."""
    idle_gaps, summary = results.get(IdleGaps), results.get(KernelSummary)
    gaps = () if isinstance(idle_gaps, Skipped) else idle_gaps.gaps
    return gaps, () if isinstance(summary, Skipped) else summary.kernels


def _places_on(
    gpu_id: str, gaps: Sequence[Gap], stretched: Sequence[PartPlace], runs: Sequence[KernelPlace]
) -> list[tuple[int, int]]:
    """The stretches of a GPU to show exactly: its parts, its gaps, longest first, kernels with most time."""
    idle = [(gap.start_ns, gap.end_ns) for gap in gaps if gap.gpu == gpu_id]
    parts = [(place.start_ns, place.end_ns) for place in stretched if place.gpu == gpu_id]
    kernels = [(place.start_ns, place.start_ns + place.duration_ns) for place in runs if place.gpu == gpu_id]
    return parts + idle + kernels


def _stretches(occupancies: Sequence[Occupancy], edges_ns: Int64Array) -> Iterator[Stretch]:
    times_ns = np.asarray(sum(coverage(occupancy, edges_ns) for occupancy in occupancies))
    for start_ns, end_ns, row in zip(edges_ns[:-1].tolist(), edges_ns[1:].tolist(), times_ns.tolist(), strict=True):
        yield Stretch(start_ns, end_ns, PartTimes(*row))
