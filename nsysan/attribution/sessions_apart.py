"""Captures that were recorded at quite different times, and so hardly of one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from nsysan.model.run import Note
from nsysan.model.text import display_text
from nsysan.model.trace import Trace
from nsysan.model.units import NS_PER_S, format_duration

_APART_NS = 600 * NS_PER_S
"""Clocks of hosts that work together differ by less, and ranks of one run are recorded together."""


def sessions_apart_notes(traces: Sequence[Trace]) -> Iterator[Note]:
    """A note where over ten minutes lie between the end of some captures and the begin of the next one."""
    told = sorted(
        (trace.session_start_utc_ns, trace.session_start_utc_ns + (trace.capture_ns or 0), trace.name)
        for trace in traces
        if trace.session_start_utc_ns is not None
    )
    ends_ns = accumulate((end_ns for _, end_ns, _ in told), max)
    gaps = [
        (after[0] - end_ns, before[2], after[2])
        for end_ns, (before, after) in zip(ends_ns, pairwise(told), strict=False)
    ]
    apart_ns, before, after = max(gaps, default=(0, "", ""))
    if apart_ns > _APART_NS:
        yield Note(
            "sessions_apart",
            f"By the clocks of their hosts {display_text(after)} was recorded {format_duration(apart_ns)} after "
            f"{display_text(before)}: they are of different runs, or a clock is wrong. What is said of waits between "
            "them holds for one run alone.",
        )
