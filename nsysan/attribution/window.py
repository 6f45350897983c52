"""Which stretch of time is judged: first to last activity, unless the user gives another."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.model.errors import UsageError
from nsysan.model.profilers import BOTH_ACTIVITIES, Recapture
from nsysan.model.tables import ABSENT, BoolArray, NvtxRanges
from nsysan.model.text import display_text
from nsysan.model.trace import PROCESS_BITS, Trace
from nsysan.model.units import format_timestamp

LISTED_NAMES = 12
RECORD_HOST = Recapture(
    nsys="Record with -t cuda,nvtx.",
    torch=f"Record with torch.profiler: profile({BOTH_ACTIVITIES}, ...).",
)
"""What records ranges and CUDA calls."""
_RANGE_SPELLING = re.compile(r"(?P<name>.*?)(?:@(?P<domain>[^/@]*))?(?:/(?P<index>[0-9]{1,18}))?", re.DOTALL)
"""An index of more digits than int64 holds is none: no range has it."""


@dataclass(frozen=True, slots=True)
class WindowChoice:
    """What the user asked for; ``from_ns`` and ``to_ns`` are session times, ``nvtx_range`` is NAME[@DOMAIN][/INDEX].

    Raises UsageError where the parts contradict each other.
    """

    from_ns: int | None = None
    to_ns: int | None = None
    nvtx_range: str | None = None

    def __post_init__(self) -> None:
        if self.nvtx_range is not None and (self.from_ns, self.to_ns) != (None, None):
            raise UsageError("--range gives both ends of the window.", "Leave out --from and --to, or --range.")
        if self.from_ns is not None and self.to_ns is not None and self.from_ns >= self.to_ns:
            raise UsageError(
                f"The window ends at {format_timestamp(self.to_ns)}, "
                f"not after its begin at {format_timestamp(self.from_ns)}.",
                "Give --from a time before --to.",
            )

    def moved(self, shift_ns: int) -> WindowChoice:
        """The same bounds on a clock that reads ``shift_ns`` more."""
        from_ns = None if self.from_ns is None else self.from_ns + shift_ns
        return WindowChoice(from_ns, None if self.to_ns is None else self.to_ns + shift_ns)


def bounds_of(choice: WindowChoice, trace: Trace) -> WindowChoice:
    """The choice as times of this trace: its NVTX range resolved, its ends inside the capture where that is known.

    NAME alone spans from the first begin to the last end of its ranges; /INDEX picks one of each process, counted from
    0 in order of begin. Raises UsageError where the trace holds no such range, or the capture nothing of the window.
    """
    if choice.nvtx_range is not None:
        return WindowChoice(*_range_span(choice.nvtx_range, trace))
    from_ns = None if choice.from_ns is None else max(choice.from_ns, 0)
    if choice.to_ns is None or trace.capture_ns is None:
        return WindowChoice(from_ns, choice.to_ns)
    return WindowChoice(from_ns, min(choice.to_ns, trace.capture_ns))


def window_over(activities: Activities, bounds: WindowChoice) -> tuple[int, int]:
    """First to last activity, each end replaced by the user's bound; empty where the bounds leave nothing."""
    start_ns = int(activities.start_ns.min()) if bounds.from_ns is None else bounds.from_ns
    end_ns = int(activities.end_ns.max()) if bounds.to_ns is None else bounds.to_ns
    return (start_ns, max(start_ns, end_ns)) if bounds.from_ns is not None else (min(start_ns, end_ns), end_ns)


def _range_span(spelling: str, trace: Trace) -> tuple[int, int]:
    ranges = trace.nvtx_ranges
    if ranges is None or not len(ranges):
        raise UsageError(
            f"{trace.name} holds no ranges, so --range cannot choose one.",
            RECORD_HOST.by({trace.profiler}),
        )
    matches = _matching(ranges, trace, spelling)
    if not len(matches):
        raise UsageError(
            f"{trace.name} holds no range {display_text(spelling)!r}.",
            f"Most frequent ranges here, with their number: {'; '.join(_frequent_names(ranges, trace))}."
            f"{_domains_hint(spelling, trace)}",
        )
    capture_end_ns = max(int(ranges.start_ns.max()), int(ranges.end_ns.max()), trace.capture_ns or 0)
    ends_ns = np.where(matches.end_ns == ABSENT, capture_end_ns, matches.end_ns)
    return max(int(matches.start_ns.min()), 0), int(ends_ns.max())


def _matching(ranges: NvtxRanges, trace: Trace, spelling: str) -> NvtxRanges:
    """The ranges of that spelling; a name that holds ``@`` or ``/`` itself is tried whole first."""
    whole = _named(ranges, trace, spelling)
    if whole.any():
        return ranges.take(whole)
    parts = _RANGE_SPELLING.fullmatch(spelling)
    if parts is None:
        return ranges.take(whole)
    named = _named(ranges, trace, parts["name"])
    if parts["domain"] is not None:
        named &= _in_domain(ranges, trace, parts["domain"])
    found = ranges.take(named)
    return found if parts["index"] is None else _numbered(found, int(parts["index"]))


def _numbered(ranges: NvtxRanges, index: int) -> NvtxRanges:
    """Of each process the range of that number in order of begin, counted from 0."""
    processes = ranges.global_tid & PROCESS_BITS
    ordered = ranges.take(np.lexsort((ranges.end_ns, ranges.start_ns, processes)))
    _, heads, counts = np.unique(ordered.global_tid & PROCESS_BITS, return_index=True, return_counts=True)
    return ordered.take(heads[counts > index] + index)


def _named(ranges: NvtxRanges, trace: Trace, name: str) -> BoolArray:
    return np.isin(ranges.name_id, [string_id for string_id, text in trace.strings.items() if text == name])


def _in_domain(ranges: NvtxRanges, trace: Trace, domain: str) -> BoolArray:
    pids = ranges.global_tid & PROCESS_BITS
    mask = np.zeros(len(ranges), dtype=np.bool_)
    for (global_pid, domain_id), name in trace.nvtx_domains.items():
        if name == domain:
            mask |= (pids == global_pid) & (ranges.domain_id == domain_id)
    return mask


def _frequent_names(ranges: NvtxRanges, trace: Trace) -> list[str]:
    counts = Counter(trace.text(name_id) for name_id in ranges.name_id.tolist())
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    return [f"{display_text(name)} ({counts[name]})" for name in ordered[:LISTED_NAMES]]


def _domains_hint(spelling: str, trace: Trace) -> str:
    """The domains of the trace, where the spelling asks for one that it lacks."""
    parts = _RANGE_SPELLING.fullmatch(spelling)
    domains = sorted(set(trace.nvtx_domains.values()))
    if parts is None or parts["domain"] is None or parts["domain"] in domains:
        return ""
    return f" Domains here: {'; '.join(map(display_text, domains[:LISTED_NAMES])) or 'none with a name'}."
