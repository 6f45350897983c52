"""How well the ranks share one clock, in words."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.model.run import Run
from nsysan.model.thresholds import TIE_NS
from nsysan.model.units import NS_PER_S, counted, format_duration


def clock_sentences(run: Run) -> Iterator[str]:
    """How far ends of common collectives lie apart, which clocks drift, and whose cannot be compared."""
    residuals_ns = [report.clock_residual_ns for report in run.reports if report.clock_residual_ns is not None]
    if residuals_ns:
        yield (
            f"On the common clock ends of one collective lie {format_duration(max(residuals_ns))} from their middle at "
            f"most, by the median of each report: who came first is told from {format_duration(TIE_NS)} on."
        )
    drifts = {report.name: report.clock_drift_frac for report in run.reports if report.clock_drift_frac}
    if drifts:
        fastest = max(drifts, key=lambda name: abs(drifts[name]))
        a_second = format_duration(abs(drifts[fastest]) * NS_PER_S)
        yield f"The clocks of {counted(len(drifts), 'report')} drift, that of {fastest} most: by {a_second} a second."
    alone = sum(report.clock_residual_ns is None for report in run.reports)
    if len(run.reports) > 1 and alone:
        yield f"No collective ties {counted(alone, 'report')} to the others, so that nothing tells when its ranks came."
