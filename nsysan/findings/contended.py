"""Kernels that take longer beside communication, with which they share multiprocessors and memory."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.contention import Contention, ContentionOfGpu, Overlap, SlowedKernel
from nsysan.findings.advice import advise
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import CONTENTION, Bound
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import SLOWED_FACTOR
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import BottleneckClass, Severity

_LISTED = 3


def find_contended(results: ResultSet) -> Iterable[Finding]:
    """A finding where compute is 15 % slower or more beside communication; a warning if overlap does not pay."""
    found = results.get(Contention)
    if isinstance(found, Skipped):
        return
    slowed = [
        (row, row.overlap)
        for row in found.contention
        if row.overlap is not None and _ratio(row.overlap) >= SLOWED_FACTOR
    ]
    if not slowed:
        return
    worst, overlap = max(slowed, key=lambda entry: entry[1].slowdown_ns)
    lost = format_duration(overlap.slowdown_ns)
    pays = "which still pays" if overlap.net_gain_ns > 0 else "which costs more than it hides"
    yield Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMMUNICATION,
        cause=CONTENTION,
        severity=Severity.INFO if overlap.net_gain_ns > 0 else Severity.WARNING,
        title=f"Compute kernels are slower beside communication, {pays}: {lost} on {worst.gpu} over the window",
        recoverable_ns=None,
        evidence=tuple(_evidence(worst, overlap, found.slowed_kernels)),
        advice=advise(CONTENTION, BottleneckClass.COMMUNICATION, results),
        bound=Bound.EITHER,
        confidence=Confidence.MEDIUM,
        confirm="Run a step with communication alone and one with computing alone: together they should not "
        "take longer.",
    )


RULE = Rule("contended", find_contended)


def _ratio(overlap: Overlap) -> float:
    """How many times longer the kernels beside communication take than alone."""
    alone_ns = overlap.compared_ns - overlap.slowdown_ns
    return overlap.compared_ns / alone_ns if alone_ns > 0 else float("inf")


def _evidence(worst: ContentionOfGpu, overlap: Overlap, kernels: Iterable[SlowedKernel]) -> Iterable[Evidence]:
    hidden = format_duration(overlap.compared_ns)
    yield Evidence(
        f"Of {hidden} beside communication on {worst.gpu} the slowdown takes "
        f"{format_fraction(overlap.slowdown_ns / overlap.compared_ns)}.",
        Contention.id,
    )
    slowed = [row for row in kernels if row.gpu == worst.gpu and row.slowdown_ns > 0]
    # a kernel is there once for each of its grids: of one name the one that loses most is enough
    first = {row.name: row for row in reversed(slowed)}
    for row in [row for row in slowed if first[row.name] is row][:_LISTED]:
        beside, alone = format_duration(row.beside_median_ns), format_duration(row.alone_median_ns)
        yield Evidence(f"{row.name}: {beside} beside communication, {alone} alone.", Contention.id, kernels=(row.name,))
