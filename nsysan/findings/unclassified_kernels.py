"""Kernels of no known family: they count as compute, so a custom collective among them would be misjudged."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.kernels import KernelClass
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import UNCLASSIFIED_FRAC, UNCLASSIFIED_WARNED_FRAC
from nsysan.model.units import format_fraction
from nsysan.model.verdicts import Severity

LISTED_NAMES = 3


def find_unclassified_kernels(results: ResultSet) -> Iterable[Finding]:
    """A finding where more than 1 % of kernel time has no known class; a warning from half of it on."""
    summary = results.get(KernelSummary)
    if isinstance(summary, Skipped):
        return
    other = next((row for row in summary.kernel_classes if row.kernel_class is KernelClass.OTHER), None)
    if other is None or other.work_frac is None or other.work_frac <= UNCLASSIFIED_FRAC:
        return
    largest = [row for row in summary.kernels if row.kernel_class is KernelClass.OTHER][:LISTED_NAMES]
    yield notice(
        RULE.id,
        Severity.WARNING if other.work_frac >= UNCLASSIFIED_WARNED_FRAC else Severity.INFO,
        f"{format_fraction(other.work_frac)} of kernel time has no known class and counts as compute",
        (Evidence(f"{format_fraction(row.work_frac or 0.0)}: {row.name}", KernelSummary.id) for row in largest),
        "Check that none of these kernels communicates: nsysan would call its time compute.",
    )


RULE = Rule("unclassified_kernels", find_unclassified_kernels)
