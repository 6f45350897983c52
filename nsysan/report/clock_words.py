"""How well the ranks share one clock, in words."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.model.run import Run
from nsysan.model.thresholds import TIE_NS
from nsysan.model.units import NS_PER_S, counted, format_duration


def clock_sentences(run: Run) -> Iterator[str]:
    """How clocks were moved onto one, how far ends of collectives lie apart on it, which drift, whose are unknown."""
    yield from _offset_sentence(run)
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
    yield from _lone_sentence(run)


def clock_line(run: Run) -> str | None:
    """The same in as few words as a line has room for; None where nothing is known of a common clock."""
    residuals_ns = [report.clock_residual_ns for report in run.reports if report.clock_residual_ns is not None]
    if not residuals_ns:
        return next(_lone_sentence(run), None)
    offsets_ns = [report.clock_offset_ns or 0 for report in run.reports]
    apart_ns, drifts = _hosts_apart_ns(run), [abs(report.clock_drift_frac or 0.0) for report in run.reports]
    told = (
        f"Clocks agree to {format_duration(max(residuals_ns))}",
        f"moved by {format_duration(min(offsets_ns))} to {format_duration(max(offsets_ns))}"
        if any(offsets_ns)
        else None,
        f"the hosts' {format_duration(apart_ns)} apart" if apart_ns else None,
        f"drift up to {format_duration(max(drifts) * NS_PER_S)} a second" if any(drifts) else None,
    )
    return " ".join((f"{', '.join(filter(None, told))}.", *_lone_sentence(run)))


def _lone_sentence(run: Run) -> Iterator[str]:
    alone = sum(report.clock_residual_ns is None for report in run.reports)
    if len(run.reports) > 1 and alone:
        yield f"No collective ties {counted(alone, 'report')} to the others, so that nothing tells when its ranks came."


def _offset_sentence(run: Run) -> Iterator[str]:
    """How far times were moved, and how much of that corrects the clocks of the hosts."""
    offsets_ns = [report.clock_offset_ns for report in run.reports if report.clock_offset_ns is not None]
    if len(offsets_ns) < 2:  # noqa: PLR2004 -- one clock is moved onto none
        return
    apart_ns, times = _hosts_apart_ns(run), f"Times of {counted(len(offsets_ns), 'report')}"
    if not any(offsets_ns) and not apart_ns:
        yield f"{times} are on one clock as they are."
        return
    moved = (
        f"{times} are moved by {format_duration(min(offsets_ns))} to {format_duration(max(offsets_ns))} onto one clock"
    )
    alone = "" if apart_ns is None else f"; their hosts' clocks would leave them {format_duration(apart_ns)} apart"
    yield f"{moved}{alone}."


def _hosts_apart_ns(run: Run) -> int | None:
    """How far offsets are, the furthest from each other, from the sessions' begins by the hosts; None without two."""
    corrections_ns = [
        report.clock_offset_ns - int(report.session_start_utc_ns)
        for report in run.reports
        if report.clock_offset_ns is not None
        and report.clock_residual_ns is not None
        and report.session_start_utc_ns is not None
    ]
    return max(corrections_ns) - min(corrections_ns) if len(corrections_ns) > 1 else None
