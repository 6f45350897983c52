"""What the rules found: severity, evidence and advice, worst first as the run has them."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.model.findings import Finding
from nsysan.model.run import Run
from nsysan.model.units import counted, format_duration
from nsysan.model.verdicts import BottleneckClass, Severity
from nsysan.report.elements import Term
from nsysan.report.prose import capitalized, ended, listed, spelled
from nsysan.report.section import Layout, Section, View
from nsysan.report.terms import TERMS

_CLASS_FILLS = {
    BottleneckClass.COMPUTE: "compute_only",
    BottleneckClass.COMMUNICATION: "exposed_communication",
    BottleneckClass.DATA: "data",
    BottleneckClass.MEMORY: "memory",
    BottleneckClass.SCHEDULING: "scheduling",
}


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding. ``amount`` is what a fix would win; None where that cannot be measured."""

    id: str
    severity: str
    title: str
    amount: str | None
    unit: str | None
    no_amount: str
    class_name: str | None
    class_fill: str | None
    cause: str | None
    evidence: tuple[str, ...]
    advice: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindingsView(View):
    """All findings."""

    recoverable: Term
    severity: Term
    findings: tuple[FindingView, ...]


def _build(run: Run) -> FindingsView | None:
    if not run.findings:
        return None
    counts = [
        f"{sum(finding.severity is severity for finding in run.findings)} {severity.value}"
        for severity in reversed(Severity)
        if any(finding.severity is severity for finding in run.findings)
    ]
    heading = f"{counted(len(run.findings), 'finding')}: {listed(counts)}"
    findings = tuple(_finding(number, finding) for number, finding in enumerate(run.findings, start=1))
    return FindingsView(TERMS["recoverable"], TERMS["severity"], findings, heading=heading)


def _finding(number: int, finding: Finding) -> FindingView:
    found_class = finding.bottleneck_class
    amount, unit = _amount(finding.recoverable_ns)
    return FindingView(
        id=f"finding-{number}",
        severity=finding.severity.value,
        title=finding.title,
        amount=amount,
        unit=unit,
        no_amount="about the trace" if found_class is None else "gain not measurable",
        class_name=None if found_class is None else capitalized(found_class.value),
        class_fill=None if found_class is None else _CLASS_FILLS[found_class],
        cause=None if finding.cause is None else spelled(finding.cause),
        evidence=tuple(ended(evidence.sentence) for evidence in finding.evidence),
        advice=finding.advice,
    )


def _amount(recoverable_ns: int | None) -> tuple[str, str] | tuple[None, None]:
    if recoverable_ns is None:
        return None, None
    amount, _, unit = format_duration(recoverable_ns).partition(" ")
    return amount, unit


SECTION = Section("findings", 30, "Findings", "What stands out", _build, Layout.WIDE)
