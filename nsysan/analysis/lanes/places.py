"""Where the longest run of a kernel and the longest stretch of a part are: places to lead to, and to show exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from nsysan.analysis.kernel_summary import KernelRow
from nsysan.attribution.devices import Gpu
from nsysan.attribution.job import Job
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded, distinct
from nsysan.model.partition import Part
from nsysan.model.text import text_hash
from nsysan.timeline.occupancy import Occupancy
from nsysan.timeline.part_runs import longest_runs

PLACE_COUNT = 50
"""So many of the kernels with the most time have a place."""

PLACED_PARTS = (Part.OPAQUE_GRAPH, Part.EXPOSED_COMMUNICATION, Part.EXPOSED_COPY)
"""The parts in which something other than compute runs alone; idle time has gaps instead."""


class KernelPlace(msgspec.Struct, frozen=True):
    """The longest run of the kernels of one name inside the windows of the GPUs shown; of equals the first."""

    name_hash: str
    gpu: str
    start_ns: int
    duration_ns: int


class PartPlace(msgspec.Struct, frozen=True):
    """The longest unbroken stretch of a part on the GPUs shown; of equals the first."""

    part: Part
    gpu: str
    start_ns: int
    end_ns: int


def longest_stretches(gpus: Sequence[Gpu]) -> tuple[PartPlace, ...]:
    """The place of each of ``PLACED_PARTS`` that occurs, on the clock of its GPU."""
    found = [place for gpu in gpus for place in _longest_of_parts(gpu.id, gpu.occupancy)]
    of_parts = ([place for place in found if place.part is part] for part in PLACED_PARTS)
    return tuple(max(places, key=lambda place: place.end_ns - place.start_ns) for places in of_parts if places)


def _longest_of_parts(gpu_id: str, occupancy: Occupancy) -> Iterator[PartPlace]:
    """The longest stretch of each part that a GPU has."""
    _, longest_ns = longest_runs(occupancy)
    for part in PLACED_PARTS:
        start_ns, end_ns = longest_ns[list(Part).index(part)].tolist()
        if end_ns > start_ns:
            yield PartPlace(part, gpu_id, start_ns, end_ns)


def longest_kernels(job: Job, gpus: Sequence[Gpu], rows: Sequence[KernelRow]) -> tuple[KernelPlace, ...]:
    """The place of each of these kernels that ran on one of the GPUs, in the order of the rows."""
    wanted = {row.name_hash for row in rows[:PLACE_COUNT]}
    longest: dict[str, KernelPlace] = {}
    for gpu in gpus:
        for place in _longest_on(job, gpu, wanted):
            best = longest.get(place.name_hash)
            if best is None or place.duration_ns > best.duration_ns:
                longest[place.name_hash] = place
    return tuple(longest[row.name_hash] for row in rows[:PLACE_COUNT] if row.name_hash in longest)


def _longest_on(job: Job, gpu: Gpu, wanted: set[str]) -> Iterator[KernelPlace]:
    """The longest run on one GPU of each name that is wanted, which may have several ids and be in several reports."""
    first_ns, last_ns = gpu.window_ns
    activities = gpu.activities
    inside = activities.are_of("kernels") & (activities.start_ns >= first_ns) & (activities.end_ns <= last_ns)
    for report in distinct(activities.report).tolist():
        trace, own = job.traces[report], np.flatnonzero(inside & (activities.report == report))
        if trace.kernels is None:
            continue
        ids, id_of = coded(trace.kernels.name_id[activities.row[own]])
        start_ns, end_ns = activities.start_ns[own], activities.end_ns[own]
        for row in _longest_of_each(id_of, end_ns - start_ns).tolist():
            name_hash = text_hash(trace.text(int(ids[id_of[row]])))
            if name_hash in wanted:
                yield KernelPlace(name_hash, gpu.id, int(start_ns[row]), int(end_ns[row] - start_ns[row]))


def _longest_of_each(id_of: Int64Array, lengths_ns: Int64Array) -> Int64Array:
    """The first row of each id that has the id's greatest length."""
    longest_ns = np.zeros(int(id_of.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(longest_ns, id_of, lengths_ns)
    candidates = np.flatnonzero(lengths_ns == longest_ns[id_of])
    firsts: Int64Array = candidates[np.unique(id_of[candidates], return_index=True)[1]]
    return firsts
