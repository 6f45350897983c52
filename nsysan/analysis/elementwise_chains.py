"""What steps take for chains of elementwise kernels that could be one kernel each, and whether memory bounds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.counter_means import Sums, series_of, sharing_times, sums
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.gpu_counters import counters_of
from nsysan.attribution.job import Job
from nsysan.attribution.kernel_chains import Chains, chains_of
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.counters import COUNTERS, Counter
from nsysan.model.details import Detail
from nsysan.model.results import ResultSet, Skipped
from nsysan.timeline.intervals import union

_PERCENT = 100
_DRAM = (Counter.DRAM_READ, Counter.DRAM_WRITE)


class ChainsOfDevice(msgspec.Struct, frozen=True):
    """The chains that begin in a device's steady steps. Times are sums of lengths over all of these steps.

    As one kernel each, reading what the first reads and writing what the last writes, they would still take about as
    long as their longest kernels, ``longest_ns``. ``dram_frac`` is the share of its bandwidth that the GPU's memory
    reads and writes during them, by samples that touch them; null where that was not sampled.
    """

    device: str
    step_count: int
    chain_count: int
    kernel_count: int
    total_ns: int
    longest_ns: int
    dram_frac: float | None

    @property
    def saved_ns_per_step(self) -> int:
        """What one kernel each would spare a step, at most."""
        return (self.total_ns - self.longest_ns) // self.step_count


class ElementwiseChains(msgspec.Struct, frozen=True):
    """The devices with steady steps and the chains in these."""

    id: ClassVar[str] = "elementwise_chains"

    elementwise_chains: tuple[ChainsOfDevice, ...]


def compute_elementwise_chains(job: Job, _results: ResultSet) -> ElementwiseChains | Skipped:
    """The chains of each device; skipped without steady steps, or where grids of kernels are not told."""
    if not job.gpus:
        return no_gpu_work(ElementwiseChains.id, job)
    found = tuple(one for gpu in job.gpus for device in gpu.devices for one in _of_device(job, gpu, device))
    if not found:
        return Skipped(ElementwiseChains.id, "no steady steps, or no grids of kernels", None)
    return ElementwiseChains(found)


ANALYSIS = Analysis(
    ElementwiseChains, compute_elementwise_chains, details=frozenset({Detail.KERNEL_SHAPES, Detail.COUNTERS})
)


def _of_device(job: Job, gpu: Gpu, device: Device) -> Iterator[ChainsOfDevice]:
    steps, trace = steady_steps(job, device), job.traces[device.report]
    if steps is None or trace.kernel_dimensions is None:
        return
    chains = chains_of(device.activities, trace)
    begun = np.searchsorted(steps.start_ns, chains.start_ns, side="right") - 1
    chains = chains.take((begun >= 0) & (chains.start_ns < steps.end_ns[np.maximum(begun, 0)]))
    yield ChainsOfDevice(
        device=device.id,
        step_count=len(steps),
        chain_count=len(chains),
        kernel_count=int(chains.kernel_count.sum()),
        total_ns=int(chains.total_ns.sum()),
        longest_ns=int(chains.longest_ns.sum()),
        dram_frac=_dram_frac(job, gpu, device, chains),
    )


def _dram_frac(job: Job, gpu: Gpu, device: Device, chains: Chains) -> float | None:
    """What of the memory's bandwidth is used while chains run; None where nothing was sampled then."""
    sampled = counters_of(job, gpu)
    if sampled is None or not len(chains):
        return None
    times = union(chains.start_ns, chains.end_ns)
    shift_ns = job.shift_ns(sampled[0], device.report)
    percents: dict[Counter, float] = {}
    for group in sharing_times(series_of(sampled[1])):
        found = sums(group, shift_ns, device.occupancy, times)
        length_ns = found.lengths_ns[Sums.STEPS]
        for series, weighted in zip(group, found.weighted, strict=True):
            counter = COUNTERS[series.counter]
            if counter in _DRAM and length_ns:
                percents.setdefault(counter, float(weighted[Sums.STEPS] / length_ns))
    return min(sum(percents.values()) / _PERCENT, 1.0) if percents else None
