"""Matrix products below what the GPU was measured to reach, or below what only a data sheet says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.gemms import GemmRow, Gemms
from nsysan.analysis.step_losses import LossReport
from nsysan.findings.advice import advise
from nsysan.findings.losing import finding_of, losses_of, losses_to, step_evidence
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import INEFFICIENT_GEMM, Basis, Bound
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import MATERIAL_FRAC, MOSTLY_FRAC
from nsysan.model.units import format_duration, format_flop_rate, format_fraction
from nsysan.model.verdicts import BottleneckClass, Severity

_LISTED = 3


def find_inefficient_gemm(results: ResultSet) -> Iterable[Finding]:
    """A finding where products lose time against measured ceilings; only information where none was measured."""
    gemms, report = results.get(Gemms), losses_of(results)
    if isinstance(gemms, Skipped) or report is None:
        return
    for loss in losses_to(results, INEFFICIENT_GEMM):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title="Matrix products are slower than the GPU was measured to be",
            evidence=(*_slowest(gemms), _coverage(gemms), *step_evidence(results, loss.worst_device)),
            confirm="Time the first shape alone, with data as random as the job's: as fast as its ceiling, the job is "
            "what slows it; as slow as here, the ceiling is not this GPU's.",
            confidence=Confidence.MEDIUM,
        )
    if gemms.gemm_lost_measured_ns_per_step is None and report.basis is Basis.STEPS:
        yield from _unmeasured(gemms, report, results)


RULE = Rule("inefficient_gemm", find_inefficient_gemm)


def _unmeasured(gemms: Gemms, report: LossReport, results: ResultSet) -> Iterator[Finding]:
    """Information where products reach less than half of a data sheet: what they can win is not known from it."""
    lost_ns = gemms.gemm_lost_ns_per_step or 0
    share = lost_ns / report.stretch_ns
    held_ns = sum(row.total_ns for row in gemms.gemms if row.lost_ns is not None)
    if share < MATERIAL_FRAC or (gemms.gemm_lost_ns or 0) <= MOSTLY_FRAC * held_ns:
        return
    yield Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMPUTE,
        cause=INEFFICIENT_GEMM,
        severity=Severity.INFO,
        title="Matrix products are slower than a data sheet says: "
        f"{format_duration(lost_ns)} a step, {format_fraction(share)}, not measured",
        recoverable_ns=None,
        evidence=(*_slowest(gemms), _coverage(gemms)),
        advice=advise(INEFFICIENT_GEMM, BottleneckClass.COMPUTE, results),
        bound=Bound.AT_MOST,
        confidence=Confidence.LOW,
        confirm="Few GPUs reach their data sheet: measure what this one does with nsysan calibrate, and give it with "
        "--ceilings.",
    )


def _slowest(gemms: Gemms) -> Iterator[Evidence]:
    """The shapes that lose most, each with its ceiling and where that is from."""
    for row in sorted(gemms.gemms, key=lambda row: -(row.lost_ns or 0))[:_LISTED]:
        if row.lost_ns and row.flop_per_s is not None and row.ceiling_flop_per_s is not None:
            yield Evidence(_sentence(row, row.flop_per_s, row.ceiling_flop_per_s, row.lost_ns), Gemms.id)


def _sentence(row: GemmRow, flop_per_s: float, ceiling_flop_per_s: float, lost_ns: int) -> str:
    dtype = "" if row.dtype is None else f"{row.dtype.value} "
    reached = f"{format_flop_rate(flop_per_s)}, {format_fraction(flop_per_s / ceiling_flop_per_s)}"
    ceiling = f"{format_flop_rate(ceiling_flop_per_s)} ({row.ceiling_source})"
    lost = f"{format_duration(lost_ns)} of {format_duration(row.total_ns)} lost"
    return f"{dtype}{row.m} x {row.n} x {row.k}: {reached} of {ceiling}, {lost}."


def _coverage(gemms: Gemms) -> Evidence:
    return Evidence(
        f"Shapes are known of {format_fraction(gemms.gemm_coverage_frac)} of the time of matrix products.", Gemms.id
    )
