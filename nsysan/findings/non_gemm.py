"""Compute that neither multiplies nor attends: kernels that could be fused."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.kernel_summary import KernelClassRow, KernelSummary
from nsysan.analysis.steps import Steps
from nsysan.findings.advice import advise
from nsysan.findings.losing import losses_of
from nsysan.findings.memory_bandwidth import chain_evidence
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.kernels import COMMUNICATING, MULTIPLYING, KernelClass
from nsysan.model.losses import NON_GEMM
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import FEWEST_MODEL_KERNELS, MATERIAL_FRAC, NON_GEMM_FRAC, SHORT_KERNEL_NS
from nsysan.model.units import counted, format_duration, format_fraction
from nsysan.model.verdicts import BottleneckClass, Severity

_FUSABLE = frozenset(
    {
        KernelClass.ELEMENTWISE,
        KernelClass.NORMALIZATION,
        KernelClass.REDUCTION,
        KernelClass.OPTIMIZER,
        KernelClass.COPY,
        KernelClass.MEMSET,
    }
)
_LISTED = 3


def find_non_gemm(results: ResultSet) -> Iterable[Finding]:
    """Information where over 30 % of a model's time in compute kernels is elementwise, norms, optimizer and such."""
    summary, report = results.get(KernelSummary), losses_of(results)
    if isinstance(summary, Skipped):
        return
    rows = [row for row in summary.kernel_classes if row.kernel_class not in COMMUNICATING]
    has_steps = not isinstance(results.get(Steps), Skipped)
    if not has_steps and sum(row.count for row in rows if row.kernel_class in MULTIPLYING) < FEWEST_MODEL_KERNELS:
        return
    fusable = sorted((row for row in rows if row.kernel_class in _FUSABLE), key=lambda row: -row.total_ns)
    if report is not None and report.graph_ns >= MATERIAL_FRAC * report.stretch_ns:
        # what runs in graphs is unknown, and most of it may multiply
        return
    compute_ns, fusable_ns = sum(row.total_ns for row in rows), sum(row.total_ns for row in fusable)
    if not compute_ns or fusable_ns <= NON_GEMM_FRAC * compute_ns:
        return
    yield Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMPUTE,
        cause=NON_GEMM,
        severity=Severity.INFO,
        title=f"{format_fraction(fusable_ns / compute_ns)} of compute kernels' time neither multiplies nor attends",
        recoverable_ns=None,
        evidence=(
            *(Evidence(_sentence(row), KernelSummary.id) for row in fusable[:_LISTED]),
            *chain_evidence(results),
        ),
        advice=advise(NON_GEMM, BottleneckClass.COMPUTE, results),
        confidence=Confidence.MEDIUM,
        confirm="Compare the bytes these kernels move with the bandwidth of memory: --gpu-metrics-devices=all "
        "shows it.",
    )


RULE = Rule("non_gemm", find_non_gemm)


def _sentence(row: KernelClassRow) -> str:
    short = ", most too short to outlast a launch" if row.median_ns < SHORT_KERNEL_NS else ""
    name = spelled(row.kernel_class.value)
    took, median = format_duration(row.total_ns), format_duration(row.median_ns)
    return f"{name}: {counted(row.count, 'kernel')}, {took}, median {median}{short}."
