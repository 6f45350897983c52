"""A GPU whose clock is lower than the others', as a monitor sampled it, beside ranks that compute slowly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

import msgspec

from nsysan.analysis.gpu_samples import GpuSamplesSummary, SampledGpus, SampledGpuSummary
from nsysan.analysis.stragglers import Straggler, Stragglers
from nsysan.findings.advice import advice_of
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.lateness import Lateness
from nsysan.model.losses import CLOCK_THROTTLE, SLOW_COMPUTE
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import CLOCK_EXPLAINS_FRAC, LOW_CLOCK_FACTOR, LOW_CLOCK_WARNED_FACTOR
from nsysan.model.units import HZ_PER_MHZ, counted
from nsysan.model.verdicts import BottleneckClass, Severity

_SLOW = frozenset({Lateness.SLOW_COMPUTE, Lateness.CLOCK_THROTTLE})


class _LowClock(msgspec.Struct, frozen=True):
    """One GPU, and the median clock of the others in the same recording."""

    recording: GpuSamplesSummary
    gpu: SampledGpuSummary
    clock_hz: float
    others_hz: float
    other_count: int

    @property
    def ratio(self) -> float:
        return self.others_hz / self.clock_hz

    @property
    def clocks(self) -> str:
        return f"{_mhz(self.clock_hz)} of {_mhz(self.others_hz)} MHz"


def find_sampled_clocks(results: ResultSet) -> Iterable[Finding]:
    """A finding for each GPU with a low clock; and one for each slow rank that no sampled clock explains."""
    samples = results.get(SampledGpus)
    slow = list(_slow_ranks(results))
    for recording in () if isinstance(samples, Skipped) else samples.gpu_samples:
        clocked = [gpu for gpu in recording.gpus if gpu.sm_clock_hz is not None and not gpu.is_instance]
        low = list(_low_clocks(recording, clocked))
        yield from (_low_finding(one, slow) for one in low)
        if not low and len(clocked) > 1:
            yield from (_equal_finding(rank, recording, clocked) for rank in slow)


RULE = Rule("sampled_clocks", find_sampled_clocks)


def _slow_ranks(results: ResultSet) -> Iterator[Straggler]:
    """The late ranks whose kernels take longer than the same kernels of others."""
    found = results.get(Stragglers)
    for rank in () if isinstance(found, Skipped) else found.stragglers:
        if rank.why is not None and rank.why.cause in _SLOW and (rank.why.kernel_ratio or 0.0) >= LOW_CLOCK_FACTOR:
            yield rank


def _low_clocks(recording: GpuSamplesSummary, gpus: Sequence[SampledGpuSummary]) -> Iterator[_LowClock]:
    for gpu in gpus:
        others_hz = [other.sm_clock_hz for other in gpus if other is not gpu and other.sm_clock_hz is not None]
        if others_hz and gpu.sm_clock_hz and median(others_hz) >= LOW_CLOCK_FACTOR * gpu.sm_clock_hz:
            yield _LowClock(recording, gpu, gpu.sm_clock_hz, median(others_hz), len(others_hz))


def _low_finding(low: _LowClock, slow: Sequence[Straggler]) -> Finding:
    explained = next((rank for rank in slow if abs(low.ratio / _kernel_ratio(rank) - 1) <= CLOCK_EXPLAINS_FRAC), None)
    if explained is None:
        title = f"One GPU runs at {low.clocks}, the others' clock"
    else:
        ratio = f"{_kernel_ratio(explained):.2f} ratio of rank {explained.rank}'s kernels"
        title = f"One GPU at {low.clocks} explains the {ratio}"
    return Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMPUTE,
        cause=CLOCK_THROTTLE,
        severity=Severity.WARNING if low.ratio >= LOW_CLOCK_WARNED_FACTOR else Severity.INFO,
        title=title,
        recoverable_ns=None,
        evidence=tuple(_low_evidence(low, explained)),
        advice=(advice_of("check_clock"),),
    )


def _low_evidence(low: _LowClock, explained: Straggler | None) -> Iterator[Evidence]:
    gpu = low.gpu
    warm = None if gpu.temperature_c is None else f"up to {gpu.temperature_c:.0f} °C"
    power = None if gpu.power_w is None else f"{gpu.power_w:.0f} W on average"
    beside = ", ".join(part for part in (warm, power) if part is not None)
    others = (
        f"the median of {counted(low.other_count, 'other')} is {_mhz(low.others_hz)} MHz, {low.ratio:.2f} times that"
    )
    yield Evidence(
        f"{low.recording.name}, {gpu.label}: {_mhz(low.clock_hz)} MHz{f', {beside}' if beside else ''}; {others}.",
        SampledGpus.id,
    )
    if explained is not None:
        ratio = f"{_kernel_ratio(explained):.2f}"
        yield Evidence(
            f"Rank {explained.rank}'s kernels take {ratio} times as long as the others' in the trace. "
            "That it runs on this GPU is not told by the samples, and follows from the ratios.",
            Stragglers.id,
        )


def _equal_finding(rank: Straggler, recording: GpuSamplesSummary, gpus: Sequence[SampledGpuSummary]) -> Finding:
    clocks_hz = [gpu.sm_clock_hz for gpu in gpus if gpu.sm_clock_hz is not None]
    longer = f"rank {rank.rank}'s kernels take {_kernel_ratio(rank):.2f} times as long"
    spread = f"between {_mhz(min(clocks_hz))} and {_mhz(max(clocks_hz))} MHz"
    return Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMPUTE,
        cause=SLOW_COMPUTE,
        severity=Severity.INFO,
        title=f"No clock that was sampled explains why {longer}",
        recoverable_ns=None,
        evidence=(
            Evidence(f"{recording.name}: the clocks of {counted(len(gpus), 'GPU')} lie {spread}.", SampledGpus.id),
        ),
        advice=(),
    )


def _kernel_ratio(rank: Straggler) -> float:
    assert rank.why is not None, "it is known why it is slow"
    return rank.why.kernel_ratio or 1.0


def _mhz(clock_hz: float) -> str:
    return f"{clock_hz / HZ_PER_MHZ:,.0f}"
