"""Kernels that the bandwidth of the GPU's memory bounds, where its counters were sampled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.counters import Counters, CountersOfGpu
from nsysan.findings.advice import advise
from nsysan.findings.registry import Rule
from nsysan.model.counters import Counter
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import NON_GEMM
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import MEMORY_BOUND_FRAC
from nsysan.model.units import format_fraction
from nsysan.model.verdicts import BottleneckClass, Severity

_LISTED = 3


def find_memory_bandwidth(results: ResultSet) -> Iterable[Finding]:
    """Information where GPUs read and write their memory at 60 % of its bandwidth or more; unsampled is unknown."""
    found = results.get(Counters)
    gpus = () if isinstance(found, Skipped) else found.counters
    bound = sorted(_bound(gpus), key=lambda entry: -entry[1])
    if not bound:
        return
    yield Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.MEMORY,
        cause=NON_GEMM,
        severity=Severity.INFO,
        title=f"The memory of the GPU bounds its kernels: it moves {format_fraction(bound[0][1])} of what it can",
        recoverable_ns=None,
        evidence=tuple(
            Evidence(f"{gpu.gpu or f'GPU {gpu.machine_gpu_id}'}: DRAM is {format_fraction(busy)} busy.", Counters.id)
            for gpu, busy in bound[:_LISTED]
        ),
        advice=advise(NON_GEMM, BottleneckClass.MEMORY, results),
        confirm="Look at the kernels with most time in Nsight Compute: is their memory throughput near its peak?",
    )


RULE = Rule("memory_bandwidth", find_memory_bandwidth)


def _bound(gpus: Iterable[CountersOfGpu]) -> Iterator[tuple[CountersOfGpu, float]]:
    """The GPUs that read and write so much, and how much: in steady steps, else in their window."""
    for gpu in gpus:
        sampled = [one for one in gpu.counters if one.counter in {Counter.DRAM_READ, Counter.DRAM_WRITE}]
        busy = sum(one.window_frac if one.steps_frac is None else one.steps_frac for one in sampled)
        if busy >= MEMORY_BOUND_FRAC:
            yield gpu, busy
