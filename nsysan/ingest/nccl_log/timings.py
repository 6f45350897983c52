"""Lines in which a program tells what it timed itself: a collective, the elapsed time and the bus bandwidth.

``AllReduce ring 128 ranks 2 nodes size 1073741824 elapsed 668.8 ms BusBW 3.2 GB/s``, with or without NCCL's prefix, and
with ``:`` or ``=`` between a word and its number; ``over 25 Gb/s Ethernet`` names the link between nodes. A line
without a collective, or a time without a unit, tells nothing.
"""

from __future__ import annotations

import re

from nsysan.ingest.nccl_log.lines import LogLine
from nsysan.model.kernels import Collective
from nsysan.model.nccl_log import LoggedTiming
from nsysan.model.units import BITS_PER_BYTE

_NUMBER = r"[\s:=]*(?P<value>\d{1,18}(?:\.\d{1,9})?)"
_ELAPSED = re.compile(
    rf"(?i)elapsed(?:[ _]?time)?[ _]?\(?(?P<before>ns|us|ms|s)?\)?{_NUMBER}\s*(?P<after>ns|us|µs|ms|s(?:ec)?)?\b"
)
_BUSBW = re.compile(rf"(?i)bus_?bw[ _]?\(?(?P<before>[KMGT]i?B/?p?s)?\)?{_NUMBER}\s*(?P<after>[KMGT]i?B/?p?s)?\b")
_SIZE = re.compile(rf"(?i)\b(?:size|bytes)\b(?:\(B\))?{_NUMBER}\s*(?P<after>[KMGT]?i?B)?\b")
_COUNTS = {
    "ranks": re.compile(r"(?i)\b(?:(\d{1,8})\s*ranks\b|n_?ranks[\s:=]*(\d{1,8}))"),
    "nodes": re.compile(r"(?i)\b(?:(\d{1,8})\s*nodes\b|n_?nodes[\s:=]*(\d{1,8}))"),
}
_LINK = re.compile(r"\b(?P<value>\d{1,6}(?:\.\d{1,3})?)\s*(?:Gb(?:it)?(?:/|p)s|GbE)\b")
_ALGORITHM = re.compile(r"(?i)\b(ring|tree|nvls|collnet)\b")
_KINDS = (
    (Collective.ALL_REDUCE, re.compile(r"(?i)all_?reduce")),
    (Collective.REDUCE_SCATTER, re.compile(r"(?i)reduce_?scatter")),
    (Collective.ALL_GATHER, re.compile(r"(?i)all_?gather")),
    (Collective.ALL_TO_ALL, re.compile(r"(?i)all_?to_?all")),
    (Collective.BROADCAST, re.compile(r"(?i)broadcast")),
    (Collective.SEND_RECV, re.compile(r"(?i)send_?recv")),
    (Collective.REDUCE, re.compile(r"(?i)\breduce\b")),
)
_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "sec": 1_000_000_000}
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def timing_in(line: LogLine) -> LoggedTiming | None:
    """The timing that the line tells, None where it tells none."""
    elapsed, busbw = _ELAPSED.search(line.message), _BUSBW.search(line.message)
    kind = next((kind for kind, pattern in _KINDS if pattern.search(line.message)), None)
    unit = None if elapsed is None else (elapsed["after"] or elapsed["before"])
    if elapsed is None or busbw is None or kind is None or unit is None:
        return None
    size, algorithm = _SIZE.search(line.message), _ALGORITHM.search(line.message)
    return LoggedTiming(
        kind=kind,
        algorithm=None if algorithm is None else algorithm[1].lower(),
        rank_count=_count(line.message, "ranks"),
        node_count=_count(line.message, "nodes"),
        size_bytes=None if size is None else round(float(size["value"]) * _bytes_per(size["after"] or "B")),
        elapsed_ns=round(float(elapsed["value"]) * _NS[unit.lower()]),
        busbw_bytes_per_s=float(busbw["value"]) * _bytes_per(busbw["after"] or busbw["before"] or "GB/s"),
        line=line.number,
        link_bytes_per_s=_link_bytes_per_s(line.message),
    )


def _count(message: str, what: str) -> int | None:
    found = _COUNTS[what].search(message)
    return None if found is None else int(found[1] or found[2])


def _link_bytes_per_s(message: str) -> float | None:
    """The speed of ``25 Gb/s`` or ``25GbE``, in bytes; bits are told by the small b."""
    found = _LINK.search(message)
    return None if found is None else float(found["value"]) * 1e9 / BITS_PER_BYTE


def _bytes_per(unit: str) -> int:
    """How many bytes ``GB``, ``GiB`` or ``GB/s`` stand for."""
    prefix = unit[0].upper() if unit[0].upper() in _POWERS else ""
    step = 1024 if "i" in unit.lower() else 1000
    return int(step ** _POWERS[prefix])
