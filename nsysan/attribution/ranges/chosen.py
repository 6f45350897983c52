"""Which NVTX ranges a spelling means: NAME[@DOMAIN][/INDEX]."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from nsysan.attribution.ranges.names import without_details
from nsysan.attribution.ranges.suggestions import suggested_names
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.errors import UsageError
from nsysan.model.host_events import unnamed_domain
from nsysan.model.profilers import RECORD_HOST
from nsysan.model.tables import ABSENT, NvtxRanges
from nsysan.model.text import LISTED_NAMES, display_text
from nsysan.model.trace import PROCESS_BITS, Trace

_SPELLING = re.compile(r"(?P<name>.*?)(?:@(?P<domain>[^/@]*))?(?:/(?P<index>[0-9]{1,18}))?", re.DOTALL)
"""An index of more digits than int64 holds is none: no range has it."""


class _Spelling(msgspec.Struct, frozen=True):
    """What was asked for; ``index`` counts the ranges of each process from 0 in order of begin."""

    name: str
    domain: str | None
    index: int | None


def range_span_ns(spelling: str, trace: Trace) -> tuple[int, int]:
    """First begin and last end of the ranges of that spelling; one that never ended lasts as long as the capture.

    Raises UsageError where the trace holds none, with what it holds instead.
    """
    ranges = trace.nvtx_ranges
    if ranges is None or not len(ranges):
        raise UsageError(
            f"{trace.name} holds no ranges, so --range cannot choose one.", RECORD_HOST.by({trace.profiler})
        )
    matches = _matching(ranges, trace, spelling)
    if not len(matches):
        raise UsageError(f"{trace.name} holds no range {display_text(spelling)!r}.", _hint(ranges, trace, spelling))
    capture_end_ns = max(int(ranges.start_ns.max()), int(ranges.end_ns.max()), trace.capture_ns or 0)
    ends_ns = np.where(matches.end_ns == ABSENT, capture_end_ns, matches.end_ns)
    return max(int(matches.start_ns.min()), 0), int(ends_ns.max())


def _matching(ranges: NvtxRanges, trace: Trace, spelling: str) -> NvtxRanges:
    """The ranges of that spelling; a name that holds ``@`` or ``/`` itself is tried whole first."""
    whole = _named(ranges, trace, spelling)
    if len(whole):
        return whole
    parts = _parsed(spelling)
    found = _in_domain(_named(ranges, trace, parts.name), trace, parts.domain)
    return found if parts.index is None else _numbered(found, parts.index)


def _parsed(spelling: str) -> _Spelling:
    parts = _SPELLING.fullmatch(spelling)
    if parts is None:
        return _Spelling(spelling, None, None)
    return _Spelling(parts["name"], parts["domain"], None if parts["index"] is None else int(parts["index"]))


def _named(ranges: NvtxRanges, trace: Trace, name: str) -> NvtxRanges:
    """The ranges of that text, or where there is none the operators of that name, whatever PyTorch wrote behind it."""
    exact = [string_id for string_id, text in trace.strings.items() if text == name]
    found = np.isin(ranges.name_id, exact)
    if not found.any():
        begun = (entry for entry in trace.strings.items() if name and entry[1].startswith(name))
        found = np.isin(ranges.name_id, [string_id for string_id, text in begun if without_details(text) == name])
    return ranges.take(found)


def _in_domain(ranges: NvtxRanges, trace: Trace, domain: str | None) -> NvtxRanges:
    """Those in the domain of that name; ``default`` and ``domain 3`` are names of domains that have none."""
    if domain is None:
        return ranges
    keys, key_of = _domain_keys(ranges)
    wanted: BoolArray = np.array([_label(trace, key) == domain for key in keys], np.bool_)
    return ranges.take(wanted[key_of])


def _domain_keys(ranges: NvtxRanges) -> tuple[list[tuple[int, int]], Int64Array]:
    """Every (global pid, domain id) that has ranges, and the place of each range's in that list."""
    domain_ids = np.where(ranges.domain_id == ABSENT, 0, ranges.domain_id)
    pairs = np.stack((ranges.global_tid & PROCESS_BITS, domain_ids), axis=1)
    keys, key_of = np.unique(pairs, axis=0, return_inverse=True)
    return [(global_pid, domain_id) for global_pid, domain_id in keys.tolist()], key_of.reshape(-1)


def _label(trace: Trace, key: tuple[int, int]) -> str:
    return trace.nvtx_domains.get(key) or unnamed_domain(key[1])


def _numbered(ranges: NvtxRanges, index: int) -> NvtxRanges:
    """Of each process the range of that number in order of begin, counted from 0."""
    processes = ranges.global_tid & PROCESS_BITS
    ordered = ranges.take(np.lexsort((ranges.end_ns, ranges.start_ns, processes)))
    _, heads, counts = np.unique(ordered.global_tid & PROCESS_BITS, return_index=True, return_counts=True)
    return ordered.take(heads[counts > index] + index)


def _hint(ranges: NvtxRanges, trace: Trace, spelling: str) -> str:
    """What the trace holds instead: fewer of the name, other domains, or other names."""
    parts = _parsed(spelling)
    named = _named(ranges, trace, parts.name)
    in_domain = _in_domain(named, trace, parts.domain)
    if len(in_domain):
        _, counts = np.unique(in_domain.global_tid & PROCESS_BITS, return_counts=True)
        return f"Ranges of this name are numbered from 0 in each process; the last is {int(counts.max()) - 1}."
    names = suggested_names(parts.name, ranges, trace)
    if parts.domain is None:
        return names
    domains = sorted({_label(trace, key) for key in _domain_keys(named if len(named) else ranges)[0]})
    where = f"{display_text(parts.name)!r} is in the domains" if len(named) else f"{names} Domains here"
    return f"{where}: {'; '.join(map(display_text, domains[:LISTED_NAMES]))}."
