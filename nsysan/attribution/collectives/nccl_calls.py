"""Calls of NCCL as its NVTX ranges tell them, with the payloads attached to these."""

from __future__ import annotations

import re

import numpy as np
from msgspec.structs import replace

from nsysan.attribution.collectives.call_ranges import CALL_KINDS, CallRanges, payloads_of
from nsysan.attribution.collectives.calls import NO_CALLS, Calls, CallsOfReport, CommunicatorKey, Introduction
from nsysan.attribution.collectives.kinds import OF_THE_WHOLE, SEND_RECV
from nsysan.attribution.collectives.traced_calls import traced_calls
from nsysan.attribution.host import Host
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.nccl_types import NCCL_TYPES
from nsysan.model.tables import ABSENT
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.ordering import order_of

_GROUP_START, _GROUP_END, _OTHER = -1, -2, -3
_NCCL_CALLS = CALL_KINDS | {"groupstart": _GROUP_START, "groupend": _GROUP_END}
_NCCL_NAME = re.compile(r"p?nccl(?=[A-Z])(?P<call>\w+)")
_UNMAKING = re.compile(r"p?ncclComm(?:Destroy|Abort|Finalize|Revoke)")
"""Calls that name a communicator's ranks when it goes: when it was made is not told then."""


def communicator_name(communicator_id: int) -> str:
    """NCCL's hash of a communicator as it prints it."""
    return f"0x{communicator_id & (1 << 64) - 1:016x}"


def nccl_calls(host: Host, report: int) -> CallsOfReport:
    """The calls in NCCL's NVTX ranges, with what is attached to them."""
    found = _named_calls(host)
    if not len(found.rows):
        found = traced_calls(host)
    introductions = _introductions(host, report)
    if not len(found.rows):
        return replace(NO_CALLS, introductions=introductions)
    ranges, kind = host.ranges, found.kind
    threads, starts_ns = ranges.global_tid[found.rows].astype(np.int64), ranges.start_ns[found.rows]
    payloads = payloads_of(host.trace.nccl_payloads, threads, starts_ns)
    communicators, communicator_of = coded(payloads.communicator_id)
    is_known = communicators != ABSENT
    places = np.where(is_known, np.cumsum(is_known) - 1, -1)
    calls = Calls(
        span_start_ns=ranges.start_ns[found.launched_by],
        span_end_ns=host.range_ends_ns[found.launched_by],
        global_tid=threads,
        kind=kind,
        communicator=places[communicator_of],
        size_bytes=payloads.size_bytes,
        is_part=(~np.isin(kind, (*OF_THE_WHOLE, SEND_RECV))).astype(np.int64),
        root=payloads.root.astype(np.int64),
        peer=payloads.peer.astype(np.int64),
        is_sent=_is_send(host, found.rows),
        sequence=np.where(kind == SEND_RECV, ABSENT, payloads.sequence),
        dtype=np.where(payloads.dtype == ABSENT, -1, payloads.dtype),
    )
    keys = tuple(CommunicatorKey(communicator_name(found)) for found in communicators[is_known].tolist())
    return CallsOfReport(calls, keys, introductions, tuple(name for name, _ in NCCL_TYPES))


def _named_calls(host: Host) -> CallRanges:
    """The ranges that NCCL itself makes, called as its functions."""
    codes = _codes_of_ranges(host)
    rows = np.flatnonzero(codes != _OTHER)
    rows = rows[order_of(host.ranges.global_tid[rows], host.ranges.start_ns[rows], -host.range_ends_ns[rows])]
    launched_by = _launching_rows(codes[rows], host.ranges.global_tid[rows].astype(np.int64))
    kept = np.flatnonzero((codes[rows] >= 0) & (launched_by >= 0))
    return CallRanges(rows[kept], codes[rows[kept]], rows[launched_by[kept]])


def _codes_of_ranges(host: Host) -> Int64Array:
    """What each range is: a kind of call, the begin or end of a group, or none of these."""
    name_ids, name_of = coded(host.ranges.name_id)
    if not len(name_ids):
        return np.empty(0, np.int64)
    return np.array([_code(host.trace.text(name_id)) for name_id in name_ids.tolist()], np.int64)[name_of]


def _code(name: str) -> int:
    found = _NCCL_NAME.fullmatch(name)
    if found is None:
        return _OTHER
    return _NCCL_CALLS.get(found["call"].lower(), _OTHER)


def _is_send(host: Host, rows: Int64Array) -> Int64Array:
    name_ids, name_of = coded(host.ranges.name_id[rows])
    sends = np.array([host.trace.text(name_id).lower().endswith("send") for name_id in name_ids.tolist()], np.int64)
    return sends[name_of] if len(rows) else np.empty(0, np.int64)


def _launching_rows(codes: Int64Array, threads: Int64Array) -> Int64Array:
    """For each call the row that launches it: itself, or the end of the outermost group around it; -1 if that is lost.

    The rows are in order of thread and begin.
    """
    rows = np.arange(len(codes))
    depth = _group_depths(codes, threads)
    closing = np.flatnonzero((codes == _GROUP_END) & (depth == 0))
    after = np.searchsorted(closing, rows)
    next_end = np.append(closing, -1)[np.minimum(after, len(closing))]
    same_thread = (next_end >= 0) & (threads[next_end] == threads)
    grouped = np.where(same_thread, next_end, -1)
    launching: Int64Array = np.where(depth > 0, grouped, rows)
    return launching


def _group_depths(codes: Int64Array, threads: Int64Array) -> Int64Array:
    """How many groups are open on the thread after each row; the end of one that the capture cut off closes none."""
    steps = np.where(codes == _GROUP_START, 1, np.where(codes == _GROUP_END, -1, 0))
    depths = []
    for of_thread in np.split(steps, np.flatnonzero(threads[1:] != threads[:-1]) + 1):
        total = np.cumsum(of_thread)
        depths.append(total - np.minimum(np.minimum.accumulate(total), 0))
    return np.concatenate(depths)


def _introductions(host: Host, report: int) -> tuple[Introduction, ...]:
    """What processes were told as they made communicators, or as they let go of them; there are few."""
    payloads = host.trace.nccl_payloads
    if payloads is None:
        return ()
    known = (payloads.rank >= 0) & (payloads.rank_count > payloads.rank) & (payloads.communicator_id != ABSENT)
    told = payloads.take(np.flatnonzero(known))
    letting_go = _unmaking(host)
    found = (
        Introduction(
            report=report,
            global_pid=int(told.global_tid[row]) & PROCESS_BITS,
            device_id=int(told.device_id[row]),
            key=communicator_name(int(told.communicator_id[row])),
            rank=int(told.rank[row]),
            rank_count=int(told.rank_count[row]),
            in_capture=(int(told.global_tid[row]), int(told.start_ns[row])) not in letting_go,
        )
        for row in range(len(told))
    )
    return tuple(dict.fromkeys(found))


def _unmaking(host: Host) -> set[tuple[int, int]]:
    """Thread and begin of the ranges in which communicators are let go of."""
    name_ids, name_of = coded(host.ranges.name_id)
    ends = np.array([_UNMAKING.match(host.trace.text(name_id)) is not None for name_id in name_ids.tolist()], np.bool_)
    rows = np.flatnonzero(ends[name_of]) if len(ends) else np.empty(0, np.int64)
    return set(zip(host.ranges.global_tid[rows].tolist(), host.ranges.start_ns[rows].tolist(), strict=True))
