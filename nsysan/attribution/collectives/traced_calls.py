"""Calls in the advanced NCCL trace of nsys 2025.6 and later, which is exported as NVTX ranges too.

They lose the ``nccl`` of their names. An ``API Group`` spans the calls of a group up to the end of their launch. Rows
of single operations, on the GPU or as the runtime schedules them, have the same names; what is attached tells them
apart, and without it (``--include-json true``) nothing does: then kernel names are all there is.
"""

from __future__ import annotations

import numpy as np

from nsysan.attribution.collectives.call_ranges import CALL_KINDS, CallRanges, payloads_of
from nsysan.attribution.host import Host
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.tables import ABSENT
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.ordering import order_of

_NCCL_DOMAIN = "NCCL"
_GROUP, _OTHER = -1, -2


def traced_calls(host: Host) -> CallRanges:
    """The calls of that trace, none where there is none."""
    ranges = host.ranges
    if host.trace.nccl_payloads is None or not len(ranges):
        return CallRanges(*[np.empty(0, np.int64)] * 3)
    codes = _codes(host)
    rows = np.flatnonzero(codes != _OTHER)
    threads = ranges.global_tid[rows].astype(np.int64)
    payloads = payloads_of(host.trace.nccl_payloads, threads, ranges.start_ns[rows])
    is_call = (codes[rows] != _GROUP) & ((payloads.size_bytes != ABSENT) | (payloads.dtype != ABSENT))
    rows = rows[is_call | (codes[rows] == _GROUP)]
    rows = rows[order_of(ranges.global_tid[rows], ranges.start_ns[rows], -host.range_ends_ns[rows])]
    launched_by = _groups_around(host, rows, codes[rows] == _GROUP)
    kept = np.flatnonzero(codes[rows] != _GROUP)
    return CallRanges(rows[kept], codes[rows[kept]], rows[launched_by[kept]])


def _codes(host: Host) -> Int64Array:
    """The kind of each range in NCCL's domain, by name."""
    ranges, trace = host.ranges, host.trace
    name_ids, name_of = coded(ranges.name_id)
    by_name = np.array([_code(trace.text(name_id)) for name_id in name_ids.tolist()], np.int64)[name_of]
    named = [(process, domain) for (process, domain), name in trace.nvtx_domains.items() if name == _NCCL_DOMAIN]
    in_domain = np.zeros(len(ranges), np.bool_)
    for process, domain in named:
        in_domain |= (ranges.domain_id == domain) & ((ranges.global_tid & PROCESS_BITS) == process)
    return np.where(in_domain, by_name, _OTHER)


def _code(name: str) -> int:
    return _GROUP if name == "API Group" else CALL_KINDS.get(name.lower(), _OTHER)


def _groups_around(host: Host, rows: Int64Array, is_group: np.ndarray) -> Int64Array:
    """For each row the place of the group of its thread that holds it, else its own; rows are by thread and begin."""
    places = np.arange(len(rows))
    last_group = np.maximum.accumulate(np.where(is_group, places, -1)) if len(rows) else places
    begun = np.maximum(last_group, 0)
    ends_ns, threads = host.range_ends_ns[rows], host.ranges.global_tid[rows]
    held = (last_group >= 0) & (threads[begun] == threads) & (host.ranges.start_ns[rows] < ends_ns[begun])
    around: Int64Array = np.where(held, begun, places)
    return around
