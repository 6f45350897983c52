"""Ranks that take turns being late: jitter, and no bad node."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.stragglers import Pattern, Stragglers
from nsysan.findings.losing import losses_of
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import ROTATING_FRAC
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import Severity


def find_rotating_ranks(results: ResultSet) -> Iterable[Finding]:
    """Information where over 5 % of a step is exposed waiting and no rank is late persistently."""
    found, report = results.get(Stragglers), losses_of(results)
    if isinstance(found, Skipped) or report is None or not found.stragglers:
        return
    if any(one.pattern is Pattern.PERSISTENT for one in found.stragglers):
        return
    waiting_frac = report.waiting_ns / report.stretch_ns
    if waiting_frac < ROTATING_FRAC:
        return
    most = max(found.stragglers, key=lambda one: one.late_frac)
    yield notice(
        RULE.id,
        Severity.INFO,
        f"Ranks take turns being late, {format_fraction(waiting_frac)} of a step: jitter, no bad node",
        (
            Evidence(
                f"Rank {most.rank} came last most often, to {format_fraction(most.late_frac)} of the collectives "
                f"with a late rank; exposed waiting takes {format_duration(report.waiting_ns)} a rank.",
                Stragglers.id,
            ),
        ),
        "Look at what the ranks do differently from step to step: input, pauses of the host, other processes.",
    )


RULE = Rule("rotating_ranks", find_rotating_ranks)
