"""The counters of a simulated GPU: how much of it each task keeps busy, sampled as nsys samples them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.copies import CopyKind
from nsysan.model.kernels import Collective
from nsysan.model.partition import Activity
from nsysan.synth.recording_plan import PERIOD_UNIT_NS
from nsysan.synth.simulation.program import Rendezvous, Task, TaskKind
from nsysan.synth.simulation.timelines import GpuWork
from nsysan.synth.training import kernels
from nsysan.synth.training.network import bus_factor

SAMPLE_NS = PERIOD_UNIT_NS
"""10 kHz, what ``nsys profile --gpu-metrics-frequency`` takes unless told otherwise."""
_DENSE_FLOP_PER_S = 989.4e12
_LINK_BYTES_PER_S = 450e9
_HOST_LINK_BYTES_PER_S = 63e9
_FULL = 100
_COMMUNICATION_SMS = 18
"""NCCL keeps 24 of 132 multiprocessors."""

METRICS = (
    "GR Active",
    "SMs Active",
    "SM Issue",
    "Tensor Active",
    "DRAM Read Bandwidth",
    "DRAM Write Bandwidth",
    "NVLink RX Responses User Data",
    "NVLink TX Requests User Data",
    "PCIe RX Throughput",
    "PCIe TX Throughput",
)
_GR, _SM, _ISSUE, _TENSOR, _READ, _WRITE, _LINK_IN, _LINK_OUT, _HOST_IN, _HOST_OUT = METRICS


class _Load(msgspec.Struct, frozen=True):
    """``percent`` of what a counter counts, during [start_ns, end_ns)."""

    start_ns: int
    end_ns: int
    percent: int


class Counters:
    """The counters of one GPU, from what ran on it. Loads that coincide add up, to 100 % at most."""

    def __init__(self, works: Iterable[GpuWork]) -> None:
        loads: defaultdict[str, list[_Load]] = defaultdict(list)
        for work in works:
            for metric, load in _loads(work):
                loads[metric].append(load)
        self._levels = {metric: _levels(loads[metric]) for metric in METRICS}

    def samples(self, start_ns: int, count: int) -> Iterator[tuple[int, dict[str, int]]]:
        """The end of each of ``count`` spans of ``SAMPLE_NS`` from ``start_ns`` on, with its means in percent."""
        edges = start_ns + SAMPLE_NS * np.arange(count + 1)
        means = {
            metric: np.rint(np.diff(np.interp(edges, times, area)) / SAMPLE_NS).astype(int).tolist()
            for metric, (times, area) in self._levels.items()
        }
        for position, end_ns in enumerate(edges[1:].tolist()):
            yield end_ns, {metric: values[position] for metric, values in means.items()}

    def totals(self) -> dict[str, int]:
        """Per counter its integral over all the GPU did, in percent x ns."""
        return {metric: int(area[-1]) for metric, (_, area) in self._levels.items()}


def _levels(loads: Iterable[_Load]) -> tuple[Int64Array, Int64Array]:
    """The times at which the load changes, and its integral up to each of them."""
    edges = sorted(edge for load in loads for edge in ((load.start_ns, load.percent), (load.end_ns, -load.percent)))
    if not edges:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    times, changes = np.array(edges, np.int64).T
    level = np.minimum(np.cumsum(changes), _FULL)
    return times, np.concatenate(([0], np.cumsum(level[:-1] * np.diff(times))))


def _loads(work: GpuWork) -> Iterator[tuple[str, _Load]]:
    for metric, percent in _percents(work.task, work.end_ns - work.start_ns).items():
        yield metric, _Load(work.start_ns, work.end_ns, percent)
    rendezvous = work.task.rendezvous
    if rendezvous is not None and rendezvous.transfer_ns:
        percent = _link_percent(rendezvous)
        for metric in (_LINK_IN, _LINK_OUT):
            yield metric, _Load(work.end_ns - rendezvous.transfer_ns, work.end_ns, percent)


def _percents(task: Task, duration_ns: int) -> Mapping[str, int]:
    """What a task keeps busy from begin to end."""
    if task.kind in {TaskKind.COPY, TaskKind.MEMSET}:
        link = {CopyKind.HOST_TO_DEVICE: _HOST_IN, CopyKind.DEVICE_TO_HOST: _HOST_OUT}.get(CopyKind(task.copy_kind))
        return {} if link is None else {link: _rate_percent(task.size_bytes, duration_ns, _HOST_LINK_BYTES_PER_S)}
    if task.activity is Activity.COMMUNICATION:
        return {_GR: _FULL, _SM: _COMMUNICATION_SMS, _ISSUE: 2}
    busy = {_GR: _FULL, _SM: _FULL, _ISSUE: 15 if task.gemm is None else 30}
    if task.gemm is not None:
        tensor = _rate_percent(task.gemm.flop, duration_ns, _DENSE_FLOP_PER_S)
        return busy | {_TENSOR: tensor, _READ: 20, _WRITE: 10}
    if task.name in {kernels.ATTENTION_FORWARD, kernels.ATTENTION_BACKWARD}:
        return busy | {_TENSOR: 45, _READ: 20, _WRITE: 10}
    if task.kind is TaskKind.GRAPH:
        return busy | {_TENSOR: 50, _READ: 30, _WRITE: 15}
    return busy | {_READ: 56, _WRITE: 28}


def _link_percent(rendezvous: Rendezvous) -> int:
    """A collective moves its bytes times nccl-tests' factor over each link, in and out; messages are moved once."""
    kind = rendezvous.collective
    factor = 1 if kind is Collective.SEND_RECV else bus_factor(kind, len(rendezvous.ranks))
    return _rate_percent(rendezvous.size_bytes * factor, rendezvous.transfer_ns, _LINK_BYTES_PER_S)


def _rate_percent(amount: float, duration_ns: int, peak_per_s: float) -> int:
    return min(round(_FULL * amount / (duration_ns * 1e-9) / peak_per_s), _FULL)
