"""How much of a multiprocessor each kernel can fill, by registers, shared memory and block size; nothing measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import fsum
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.devices import Device
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.hardware.occupancy import Limiter, theoretical_occupancy
from nsysan.model.details import Detail
from nsysan.model.distinct import first_rows
from nsysan.model.partition import Activity
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import ABSENT, KernelShapes
from nsysan.model.text import display_text, text_hash
from nsysan.model.trace import SmLimits, Trace

ROW_LIMIT = 200


class OccupancyOfKernel(msgspec.Struct, frozen=True):
    """The compute kernels of one name whose shape is known: what they could fill, and not what they did.

    ``theoretical_frac`` is the mean weighted by time, ``least_frac`` that of the launch that fits worst; ``limiter``
    limits most of their time. ``total_ns`` is of whole kernels.
    """

    name: str
    name_hash: str
    count: int
    total_ns: int
    theoretical_frac: float
    least_frac: float
    limiter: Limiter


class Occupancy(msgspec.Struct, frozen=True):
    """The names with the most time. ``theoretical_occupancy_frac`` is the mean over all, weighted by time."""

    id: ClassVar[str] = "theoretical_occupancy"

    theoretical_occupancy: tuple[OccupancyOfKernel, ...]
    theoretical_occupancy_frac: float
    theoretical_occupancy_omitted_count: int


class _Launch(msgspec.Struct, frozen=True):
    """All launches of one kernel in one shape on one kind of GPU."""

    name: str
    count: int
    total_ns: int
    frac: float
    limiter: Limiter


def compute_occupancy(job: Job, _results: ResultSet) -> Occupancy | Skipped:
    """The theoretical occupancy of every kernel; skipped where shapes or what the GPU holds were not recorded."""
    if not job.gpus:
        return no_gpu_work(Occupancy.id, job)
    by_name: defaultdict[str, list[_Launch]] = defaultdict(list)
    for device in job.devices:
        for launch in _launches(job, device):
            by_name[launch.name].append(launch)
    rows = sorted((_row(name, found) for name, found in by_name.items()), key=lambda row: (-row.total_ns, row.name))
    total_ns = sum(row.total_ns for row in rows)
    if not total_ns:
        return Skipped(Occupancy.id, "the trace does not tell what kernels need and what the GPU holds", None)
    mean_frac = fsum(row.theoretical_frac * row.total_ns for row in rows) / total_ns
    return Occupancy(tuple(rows[:ROW_LIMIT]), mean_frac, max(len(rows) - ROW_LIMIT, 0))


ANALYSIS = Analysis(Occupancy, compute_occupancy, of_host=False, details=frozenset({Detail.KERNEL_SHAPES}))


def _row(name: str, launches: list[_Launch]) -> OccupancyOfKernel:
    total_ns = sum(launch.total_ns for launch in launches)
    times_ns: defaultdict[Limiter, int] = defaultdict(int)
    for launch in launches:
        times_ns[launch.limiter] += launch.total_ns
    weighted = fsum(launch.frac * launch.total_ns for launch in launches)
    return OccupancyOfKernel(
        name=display_text(name),
        name_hash=text_hash(name),
        count=sum(launch.count for launch in launches),
        total_ns=total_ns,
        theoretical_frac=weighted / total_ns if total_ns else launches[0].frac,
        least_frac=min(launch.frac for launch in launches),
        limiter=max(times_ns, key=lambda limiter: (times_ns[limiter], limiter.value)),
    )


def _launches(job: Job, device: Device) -> Iterator[_Launch]:
    """The compute kernels in a device's window by name and shape, as far as both are known."""
    trace = job.traces[device.report]
    identity = next(gpu.identity for gpu in job.gpus if gpu.id == device.gpu_id)
    limits = _limits(trace, identity.machine_id)
    rows = device.rows_of("kernels")[device.kinds_of("kernels") == int(Activity.COMPUTE)]
    if limits is None or trace.kernels is None or trace.kernel_shapes is None:
        return
    begin_ns, end_ns = (int(bound) for bound in device.occupancy.bounds_ns[[0, -1]])
    rows = rows[(trace.kernels.start_ns[rows] < end_ns) & (trace.kernels.end_ns[rows] > begin_ns)]
    kernels, shapes = trace.kernels.take(rows), trace.kernel_shapes.take(rows)
    group_of = codes_of(kernels.name_id, *shapes.columns().values())
    counts = np.bincount(group_of)
    totals_ns = np.bincount(group_of, kernels.end_ns - kernels.start_ns)
    for group, first in enumerate(first_rows(group_of).tolist()):
        found = _occupancy(limits, shapes, first)
        if found is not None:
            name = trace.text(int(kernels.name_id[first]))
            yield _Launch(name, int(counts[group]), int(totals_ns[group]), found[0], found[1])


def _occupancy(limits: SmLimits, shapes: KernelShapes, row: int) -> tuple[float, Limiter] | None:
    values = {name: int(column[row]) for name, column in shapes.columns().items()}
    if ABSENT in values.values():
        return None
    found = theoretical_occupancy(
        limits,
        thread_count=values["block_x"] * values["block_y"] * values["block_z"],
        register_count=values["register_count"],
        shared_bytes=values["static_shared_bytes"] + values["dynamic_shared_bytes"],
    )
    return None if found is None else (found.frac, found.limiter)


def _limits(trace: Trace, machine_id: int | None) -> SmLimits | None:
    """What the multiprocessors of the GPU hold; where it is not known which GPU it is, what all of them hold alike."""
    if machine_id is not None:
        return trace.sm_limits.get(machine_id)
    kinds = set(trace.sm_limits.values())
    return kinds.pop() if len(kinds) == 1 else None
