"""Collectives on the stream that computes: there nothing can hide them."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.contention import Contention
from nsysan.findings.advice import advise
from nsysan.findings.losing import losses_to
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import EXPOSED_COLLECTIVE, SAME_STREAM
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import SAME_STREAM_FRAC
from nsysan.model.units import counted, format_duration, format_fraction
from nsysan.model.verdicts import BottleneckClass, Severity


def find_same_stream(results: ResultSet) -> Iterable[Finding]:
    """Information where exposed communication runs on the computing stream; what that costs the exposed part says."""
    found = results.get(Contention)
    rows = [] if isinstance(found, Skipped) else list(found.contention)
    sharing = [row for row in rows if row.same_stream.frac >= SAME_STREAM_FRAC]
    if not sharing or not any(losses_to(results, EXPOSED_COLLECTIVE)):
        return
    worst = max(sharing, key=lambda row: row.same_stream.total_ns)
    yield Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMMUNICATION,
        cause=SAME_STREAM,
        severity=Severity.INFO,
        title=f"Communication runs on the computing stream on {counted(len(sharing), 'GPU')}, where nothing hides it",
        recoverable_ns=None,
        evidence=(
            Evidence(
                f"{worst.gpu}: {counted(worst.same_stream.count, 'kernel')}, "
                f"{format_duration(worst.same_stream.total_ns)}, {format_fraction(worst.same_stream.frac)} of all "
                "communication.",
                Contention.id,
            ),
        ),
        advice=advise(SAME_STREAM, BottleneckClass.COMMUNICATION, results),
        confidence=Confidence.HIGH,
        confirm="Look whether computing that does not need the result follows.",
    )


RULE = Rule("same_stream", find_same_stream)
