"""What compute and communication cost each other: slower kernels side by side, and work that waits for its turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.contention.queued import (
    CalledWork,
    QueuedWork,
    called_work,
    compute_behind_communication,
    queued_communication,
    waited_ns,
)
from nsysan.attribution.contention.slowed import ComparedKernels, compared_kernels
from nsysan.attribution.contention.streams import communication_on_compute_stream
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.job import Job
from nsysan.attribution.streams import Streams, streams_of_work
from nsysan.model.details import Detail
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text, text_hash

MOST_KERNELS = 50
MOST_QUEUED = 50
Axes = tuple[int, int, int]
"""Sizes along three axes."""


class Overlap(msgspec.Struct, frozen=True):
    """Compute kernels beside communication against the same alone: ``compared_count`` of those beside it.

    Communication ran beside them for ``compared_ns``, and they are ``slowdown_ns`` slower for it (less than 0: faster),
    which leaves ``net_gain_ns`` = compared - slowdown.
    """

    compared_count: int
    compared_ns: int
    slowdown_ns: int
    net_gain_ns: int


class Waits(msgspec.Struct, frozen=True):
    """Work that stood ready: how much of it, and the time in which any did."""

    count: int
    total_ns: int


class SameStream(msgspec.Struct, frozen=True):
    """Communication kernels on the stream that computes most; ``frac`` is their share of all communication kernels."""

    count: int
    total_ns: int
    frac: float


class ContentionOfGpu(msgspec.Struct, frozen=True):
    """One GPU that communicates. ``communication_ns`` sums the lengths of communication kernels.

    ``hidden_ns`` is the time in which compute and communication ran at once. ``overlap`` is null where no kernels can
    be compared. ``queued`` is communication that was ready while compute which was called later ran first, ``waiting``
    compute that was ready and began when communication ended; both are null where calls were not recorded.
    """

    gpu: str
    communication_count: int
    communication_ns: int
    hidden_ns: int
    overlap: Overlap | None
    queued: Waits | None
    waiting: Waits | None
    same_stream: SameStream


class SlowedKernel(msgspec.Struct, frozen=True):
    """Compute kernels of one name, ``grid`` and ``block`` on one GPU, alone and beside communication."""

    gpu: str
    name: str
    name_hash: str
    grid: Axes
    block: Axes
    alone_count: int
    alone_median_ns: int
    beside_count: int
    beside_median_ns: int
    slowdown_ns: int


class QueuedCommunication(msgspec.Struct, frozen=True):
    """Communication that stood ready for ``delay_ns`` and began at ``start_ns``, when ``behind`` had ended."""

    gpu: str
    name: str
    start_ns: int
    delay_ns: int
    behind: str


class Contention(msgspec.Struct, frozen=True):
    """The GPUs that communicate; the kernels that lose most time, and the longest delays, of all of them."""

    id: ClassVar[str] = "contention"

    contention: tuple[ContentionOfGpu, ...]
    slowed_kernels: tuple[SlowedKernel, ...]
    queued_communication: tuple[QueuedCommunication, ...]


def compute_contention(job: Job, _results: ResultSet) -> Contention | Skipped:
    """What compute and communication cost each other; skipped where no kernel communicates."""
    if not job.gpus:
        return no_gpu_work(Contention.id, job)
    # of each GPU only what is told is kept: what tells it takes a hundred bytes a piece of work
    found = [told for gpu in job.gpus if (told := _told(job, gpu)).contention[0].communication_count]
    if not found:
        return Skipped(Contention.id, "no communication kernel ran", None)
    slowed = sorted((row for told in found for row in told.slowed_kernels), key=lambda row: -row.slowdown_ns)
    queued = sorted((row for told in found for row in told.queued_communication), key=lambda row: -row.delay_ns)
    gpus = tuple(one for told in found for one in told.contention)
    return Contention(gpus, tuple(slowed[:MOST_KERNELS]), tuple(queued[:MOST_QUEUED]))


ANALYSIS = Analysis(Contention, compute_contention, details=frozenset({Detail.KERNEL_SHAPES}))


def _told(job: Job, gpu: Gpu) -> Contention:
    """What is told of one GPU."""
    found = _GpuContention(job, gpu)
    return Contention((found.figures(),), tuple(found.slowed()), tuple(found.queued()))


class _GpuContention:
    """One GPU: what is found on it, and how it is told."""

    def __init__(self, job: Job, gpu: Gpu) -> None:
        self._job, self._gpu = job, gpu
        self._compared = compared_kernels(job, gpu)
        streams = [streams_of_work(job.traces, device.activities) for device in gpu.devices]
        self._of_devices = list(zip(gpu.devices, streams, strict=True))
        called = [(device, _called_work(job, device, own)) for device, own in self._of_devices]
        self._called = [(device, work) for device, work in called if work is not None]
        self._queued = [(device, queued_communication(work)) for device, work in self._called]

    def figures(self) -> ContentionOfGpu:
        """What holds of the whole GPU."""
        shared = [
            communication_on_compute_stream(device.activities, own, _window_ns(device))
            for device, own in self._of_devices
        ]
        all_ns, shared_ns = sum(one.all_ns for one in shared), sum(one.total_ns for one in shared)
        waiting = [compute_behind_communication(work) for _, work in self._called]
        return ContentionOfGpu(
            gpu=self._gpu.id,
            communication_count=sum(one.all_count for one in shared),
            communication_ns=all_ns,
            hidden_ns=self._gpu.occupancy.part_times().overlapped_ns,
            overlap=_overlap(self._compared),
            queued=_waits([rows for _, rows in self._queued]) if self._called else None,
            waiting=_waits(waiting) if self._called else None,
            same_stream=SameStream(sum(one.count for one in shared), shared_ns, shared_ns / all_ns if all_ns else 0.0),
        )

    def slowed(self) -> Iterator[SlowedKernel]:
        """The kernels that can be compared."""
        compared = self._compared
        for row in range(len(compared)):
            name = self._job.activity_name(self._gpu.activities, int(compared.activity[row]))
            grid, block = self._dimensions(int(compared.activity[row]))
            yield SlowedKernel(
                gpu=self._gpu.id,
                name=display_text(name),
                name_hash=text_hash(name),
                grid=grid,
                block=block,
                alone_count=int(compared.alone_count[row]),
                alone_median_ns=int(compared.alone_median_ns[row]),
                beside_count=int(compared.beside_count[row]),
                beside_median_ns=int(compared.beside_median_ns[row]),
                slowdown_ns=int(compared.slowdown_ns[row]),
            )

    def queued(self) -> Iterator[QueuedCommunication]:
        """The longest delays of communication."""
        for device, rows in self._queued:
            delays_ns = rows.start_ns - rows.ready_ns
            for row in np.argsort(-delays_ns, kind="stable")[:MOST_QUEUED].tolist():
                name, behind = (
                    display_text(self._job.activity_name(device.activities, int(activity)))
                    for activity in (rows.activity[row], rows.behind[row])
                )
                start_ns = int(rows.start_ns[row])
                yield QueuedCommunication(self._gpu.id, name, start_ns, int(delays_ns[row]), behind)

    def _dimensions(self, position: int) -> tuple[Axes, Axes]:
        activities = self._gpu.activities
        dimensions = self._job.traces[int(activities.report[position])].kernel_dimensions
        if dimensions is None:
            raise ValueError("only kernels of known dimensions are compared")
        sizes = [int(column[activities.row[position]]) for column in dimensions.columns().values()]
        return (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5])


def _overlap(compared: ComparedKernels) -> Overlap | None:
    if not len(compared):
        return None
    compared_ns, slowdown_ns = int(compared.beside_ns.sum()), int(compared.slowdown_ns.sum())
    return Overlap(int(compared.beside_count.sum()), compared_ns, slowdown_ns, compared_ns - slowdown_ns)


def _waits(found: Sequence[QueuedWork]) -> Waits:
    return Waits(sum(map(len, found)), sum(map(waited_ns, found)))


def _called_work(job: Job, device: Device, streams: Streams) -> CalledWork | None:
    """The device's work with its calls, None where calls were not recorded."""
    host = job.idle.threads[device.report].host
    return called_work(device.activities, streams, host, _window_ns(device)) if len(host.calls) else None


def _window_ns(device: Device) -> tuple[int, int]:
    return int(device.occupancy.bounds_ns[0]), int(device.occupancy.bounds_ns[-1])
