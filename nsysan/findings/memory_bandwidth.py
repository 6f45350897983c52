"""Kernels that the bandwidth of the GPU's memory bounds, where its counters were sampled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.counters import Counters, CountersOfGpu
from nsysan.analysis.elementwise_chains import ElementwiseChains
from nsysan.findings.advice import advise
from nsysan.findings.losing import finding_of, losses_to, step_evidence
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.counters import Counter
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import NON_GEMM
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import MEMORY_BOUND_FRAC
from nsysan.model.units import counted, format_duration, format_fraction
from nsysan.model.verdicts import BottleneckClass, Severity

_LISTED = 3
_CONFIRM = "Look at the kernels with most time in Nsight Compute: is their memory throughput near its peak?"


def find_memory_bandwidth(results: ResultSet) -> Iterable[Finding]:
    """What chains of elementwise kernels lose that memory is seen to bound; unsampled is unknown.

    Where there are none, information where GPUs read and write their memory at 60 % of its bandwidth or more.
    """
    lost = list(losses_to(results, NON_GEMM))
    for loss in lost:
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title="Elementwise kernels in a row wait for the memory of the GPU, and could be one each",
            evidence=(*chain_evidence(results), *step_evidence(results, loss.worst_device)),
            confirm=_CONFIRM,
            confidence=Confidence.MEDIUM,
        )
    if not lost:
        yield from _of_whole_gpus(results)


RULE = Rule("memory_bandwidth", find_memory_bandwidth)


def chain_evidence(results: ResultSet) -> Iterator[Evidence]:
    """The device that has most to win from fusing what stands in a row, how much, and what its memory does then."""
    found = results.get(ElementwiseChains)
    rows = () if isinstance(found, Skipped) else found.elementwise_chains
    most = max(rows, key=lambda one: one.saved_ns_per_step, default=None)
    if most is None or not most.saved_ns_per_step:
        return
    busy = "" if most.dram_frac is None else f"; DRAM is {format_fraction(most.dram_frac)} busy meanwhile"
    yield Evidence(
        f"In {counted(most.step_count, 'steady step')} {most.device} runs "
        f"{counted(most.kernel_count, 'elementwise kernel')} over arrays of one size in "
        f"{counted(most.chain_count, 'row')}: as one kernel each they would spare at most "
        f"{format_duration(most.saved_ns_per_step)} a step{busy}.",
        ElementwiseChains.id,
    )


def unsampled_saving_ns(results: ResultSet) -> int:
    """What chains of which no counter tells whether memory bounds them could spare a step, of the device with most."""
    found = results.get(ElementwiseChains)
    rows = () if isinstance(found, Skipped) else found.elementwise_chains
    return max((one.saved_ns_per_step for one in rows if one.dram_frac is None), default=0)


def _of_whole_gpus(results: ResultSet) -> Iterator[Finding]:
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
        confirm=_CONFIRM,
    )


def _bound(gpus: Iterable[CountersOfGpu]) -> Iterator[tuple[CountersOfGpu, float]]:
    """The GPUs that read and write so much, and how much: in steady steps, else in their window."""
    for gpu in gpus:
        sampled = [one for one in gpu.counters if one.counter in {Counter.DRAM_READ, Counter.DRAM_WRITE}]
        busy = sum(one.window_frac if one.steps_frac is None else one.steps_frac for one in sampled)
        if busy >= MEMORY_BOUND_FRAC:
            yield gpu, busy
