"""How busy the units of each GPU were, by its sampled counters, and what network adapters counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.network_counters import NetworkCounter, network_counters
from nsysan.analysis.registry import Analysis
from nsysan.attribution.counter_means import Floats, Series, Sums, series_of, sharing_times, sums
from nsysan.attribution.devices import Gpu
from nsysan.attribution.gpu_counters import counters_of, counters_of_nobody
from nsysan.attribution.job import Job
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.counters import COUNTERS, Counter
from nsysan.model.details import Detail
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.partition import Part
from nsysan.model.profilers import Profiler
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import CounterSamples
from nsysan.model.units import HZ_PER_MHZ
from nsysan.timeline.intervals import Intervals, union
from nsysan.timeline.occupancy import Occupancy, sweep

SAMPLE_COUNTERS = "Record with --gpu-metrics-devices=all (nsys 2023.4: --gpu-metrics-device=all)."
_PERCENT = 100
_MOST_MHZ = 10_000
_ADDITIVE = frozenset({Counter.NVLINK_RX, Counter.NVLINK_TX})
"""Requests and responses, data of the user and of the protocol share a link; the others have one metric each."""


class PartFracs(msgspec.Struct, frozen=True):
    """A counter's mean in each part: of the samples that lie wholly in it, null where there is none."""

    compute_only_frac: float | None
    overlapped_frac: float | None
    fused_frac: float | None
    opaque_graph_frac: float | None
    exposed_communication_frac: float | None
    exposed_copy_frac: float | None
    idle_frac: float | None

    def of(self, part: Part) -> float | None:
        """The mean in one part."""
        value: float | None = getattr(self, f"{part.value}_frac")
        return value


class CounterMeans(msgspec.Struct, frozen=True):
    """Means of a counter as shares of what the unit can do, weighted by time; ``steps_frac`` is of steady steps.

    ``metric_count`` metrics were added up for it: links count requests, responses and protocol apart.
    """

    counter: Counter
    metric_count: int
    window_frac: float
    steps_frac: float | None
    part_fracs: PartFracs


class PartSamples(msgspec.Struct, frozen=True):
    """How many samples lie wholly in each part."""

    compute_only_count: int
    overlapped_count: int
    fused_count: int
    opaque_graph_count: int
    exposed_communication_count: int
    exposed_copy_count: int
    idle_count: int


class CountersOfGpu(msgspec.Struct, frozen=True):
    """The counters of a GPU; samples reach into ``sampled_ns`` of its window and come every ``period_ns``.

    ``gpu`` is null where the report does not tell which process used the GPU that its machine calls ``machine_gpu_id``:
    parts and steps are then unknown, and the window is from the first work of the report to its last.
    ``gpc_clock_hz`` is the mean clock of the multiprocessors in the window, null where it was not sampled.
    """

    gpu: str | None
    machine_gpu_id: int
    sample_count: int
    period_ns: int
    sampled_ns: int
    part_samples: PartSamples | None
    gpc_clock_hz: float | None
    counters: tuple[CounterMeans, ...]


class Counters(msgspec.Struct, frozen=True):
    """The sampled counters of GPUs and of network adapters."""

    id: ClassVar[str] = "counters"

    counters: tuple[CountersOfGpu, ...]
    network_counters: tuple[NetworkCounter, ...]

    def figures(self) -> Iterator[Figure]:
        """The clock and every counter, mean over the GPUs that have it: of steady steps, and of the windows."""
        clocks = [gpu.gpc_clock_hz for gpu in self.counters if gpu.gpc_clock_hz is not None]
        if clocks:
            yield Figure(_CLOCKS, "gpc", "clock of the multiprocessors", fmean(clocks), Unit.HZ, Better.MORE)
        for topic, field in ((_IN_STEPS, "steps_frac"), (_IN_WINDOWS, "window_frac")):
            for counter in Counter:
                found = [getattr(one, field) for gpu in self.counters for one in gpu.counters if one.counter is counter]
                known = [share for share in found if share is not None]
                if known:
                    name = spelled(counter.value)
                    yield Figure(topic, counter.value, name, fmean(known), Unit.FRAC)


_CLOCKS = Topic("clocks", "Clocks in the windows, mean over GPUs")
_IN_STEPS = Topic("step_counters", "Counters in steady steps, mean over GPUs")
_IN_WINDOWS = Topic("window_counters", "Counters in the windows, mean over GPUs")


def compute_counters(job: Job, _results: ResultSet) -> Counters | Skipped:
    """The means of every counter that was sampled; skipped where none was."""
    if not job.gpus:
        return no_gpu_work(Counters.id, job)
    sampled = (*_known(job), *_unknown(job))
    found = tuple(entry for samples in sampled if (entry := _of_gpu(samples)) is not None)
    network = network_counters(job)
    if found or network:
        return Counters(found, network)
    # PyTorch's profiler samples none, whatever it is told
    can_sample = any(trace.profiler is Profiler.NSYS for trace in job.traces)
    if any(threads.host.trace.counter_samples for threads in job.idle.threads):
        return Skipped(Counters.id, "counters were sampled, but not while these GPUs were at work", None)
    return Skipped(
        Counters.id,
        "the trace holds no sampled counters by a name that nsysan knows, and unknown is not zero",
        SAMPLE_COUNTERS if can_sample else None,
    )


ANALYSIS = Analysis(Counters, compute_counters, details=frozenset({Detail.COUNTERS}))


class _Sampled(msgspec.Struct, frozen=True, eq=False):
    """The samples of a GPU, and what ``shift_ns`` puts them beside."""

    gpu: str | None
    machine_gpu_id: int
    samples: CounterSamples
    shift_ns: int
    occupancy: Occupancy
    steps: Intervals


def _known(job: Job) -> Iterator[_Sampled]:
    for gpu in job.gpus:
        sampled = counters_of(job, gpu)
        if sampled is not None:
            shift_ns = job.shift_ns(sampled[0], gpu.devices[0].report)
            machine_id = gpu.identity.machine_id or 0
            yield _Sampled(gpu.id, machine_id, sampled[1], shift_ns, gpu.occupancy, _steady(job, gpu))


def _unknown(job: Job) -> Iterator[_Sampled]:
    nothing = np.empty(0, np.int64)
    for report, machine_id, samples in counters_of_nobody(job):
        bounds_ns = [device.occupancy.bounds_ns for device in job.devices_of(report)]
        window = min(int(bounds[0]) for bounds in bounds_ns), max(int(bounds[-1]) for bounds in bounds_ns)
        occupancy = sweep(nothing, nothing, nothing.astype(np.uint8), window)
        yield _Sampled(None, machine_id, samples, 0, occupancy, union(nothing, nothing))


def _steady(job: Job, gpu: Gpu) -> Intervals:
    """The steady steps of all devices of the GPU, on its clock."""
    starts_ns, ends_ns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for device in gpu.devices:
        steps = steady_steps(job, device)
        if steps is not None:
            shift_ns = job.shift_ns(device.report, gpu.devices[0].report)
            starts_ns.append(steps.start_ns + shift_ns)
            ends_ns.append(steps.end_ns + shift_ns)
    return union(np.concatenate(starts_ns), np.concatenate(ends_ns))


def _of_gpu(sampled: _Sampled) -> CountersOfGpu | None:
    """The means of a GPU's counters, None where no sample reaches into its window."""
    groups = sharing_times(series_of(sampled.samples))
    found = [(group, sums(group, sampled.shift_ns, sampled.occupancy, sampled.steps)) for group in groups]
    found = [(group, totals) for group, totals in found if totals.lengths_ns[Sums.WINDOW]]
    if not found:
        return None
    means = {counter: list(_means_of(counter, found)) for counter in COUNTERS}
    series, totals = found[0][0][0], found[0][1]
    clock = means.pop(Counter.GPC_CLOCK)
    part_samples = PartSamples(*totals.sample_counts[Sums.PARTS :].tolist())
    return CountersOfGpu(
        gpu=sampled.gpu,
        machine_gpu_id=sampled.machine_gpu_id,
        sample_count=int(totals.sample_counts[Sums.WINDOW]),
        period_ns=series.period_ns,
        sampled_ns=int(totals.lengths_ns[Sums.WINDOW]),
        part_samples=None if sampled.gpu is None else part_samples,
        gpc_clock_hz=_in_hz(float(clock[0][Sums.WINDOW])) if clock else None,
        counters=tuple(
            _counter(counter, of_metrics, known=sampled.gpu is not None)
            for counter, of_metrics in means.items()
            if of_metrics
        ),
    )


def _in_hz(clock: float) -> float:
    """A clock as recorded: nsys stores it in Hz, whatever the metric's name says, and scales it where it shows it."""
    return clock if clock > _MOST_MHZ else clock * HZ_PER_MHZ


def _means_of(counter: Counter, found: Sequence[tuple[Sequence[Series], Sums]]) -> Iterator[Floats]:
    """The means of each metric that makes up a counter, by the columns of ``Sums``; NaN where nothing was sampled."""
    for group, totals in found:
        for series, weighted in zip(group, totals.weighted, strict=True):
            if COUNTERS[series.counter] is counter:
                unsampled = np.full(len(weighted), np.nan)
                yield np.divide(weighted, totals.lengths_ns, out=unsampled, where=totals.lengths_ns > 0)


def _counter(counter: Counter, of_metrics: Sequence[Floats], *, known: bool) -> CounterMeans:
    """The means of a counter; of what is not ``known`` to be of a GPU of the job, only that over the window."""
    used = of_metrics if counter in _ADDITIVE else of_metrics[:1]
    # whole percents that are rounded may add up to more than all there is
    fracs = np.minimum(np.sum(used, axis=0) / _PERCENT, 1.0)
    window, steps, *parts = (None if np.isnan(frac) else float(frac) for frac in fracs)
    return CounterMeans(
        counter=counter,
        metric_count=len(used),
        window_frac=window or 0.0,
        steps_frac=steps,
        part_fracs=PartFracs(*(parts if known else [None] * len(Part))),
    )
