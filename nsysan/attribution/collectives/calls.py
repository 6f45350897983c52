"""Calls of communication libraries on host threads: what each was asked to move, and which stretch launches it.

A call launches its kernel itself, unless it stands in a group: then the call that ends the group does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.collectives.kinds import KINDS, SEND_RECV
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.model.distinct import coded
from nsysan.model.kernels import Collective
from nsysan.model.tables import ABSENT, CollectiveCalls, IdArray, Int64Array, NcclPayloads, Table
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.ordering import order_of

_GROUP_START, _GROUP_END, _INIT, _OTHER = -1, -2, -3, -4
_NCCL_CALLS = {
    "allreduce": KINDS.index(Collective.ALL_REDUCE),
    "allgather": KINDS.index(Collective.ALL_GATHER),
    "reducescatter": KINDS.index(Collective.REDUCE_SCATTER),
    "alltoall": KINDS.index(Collective.ALL_TO_ALL),
    "broadcast": KINDS.index(Collective.BROADCAST),
    "bcast": KINDS.index(Collective.BROADCAST),
    "reduce": KINDS.index(Collective.REDUCE),
    "gather": KINDS.index(Collective.GATHER),
    "scatter": KINDS.index(Collective.SCATTER),
    "send": SEND_RECV,
    "recv": SEND_RECV,
    "groupstart": _GROUP_START,
    "groupend": _GROUP_END,
}
_NCCL_NAME = re.compile(r"p?nccl(?=[A-Z])(?P<call>\w+)")
_OF_THE_WHOLE = frozenset({Collective.ALL_REDUCE, Collective.BROADCAST, Collective.REDUCE, Collective.BARRIER})
"""Kinds whose calls name the size of the whole array; of the others NCCL's name one rank's part."""


@dataclass(frozen=True, slots=True, eq=False)
class Calls(Table):
    """Calls of one report, in order of the stretches that launch them.

    ``span_start_ns`` to ``span_end_ns`` on ``global_tid`` is that stretch. ``communicator`` is a place in
    ``CallsOfReport.communicators``, -1 where it is not known. ``size_bytes`` times the communicator's size where
    ``is_part`` is the whole array. ``peer``, of a message, and ``root`` count within the communicator; ``is_sent`` is 1
    of what is sent. ``dtype_id`` is a key of the trace's strings.
    """

    span_start_ns: Int64Array
    span_end_ns: Int64Array
    global_tid: Int64Array
    kind: Int64Array
    communicator: Int64Array
    size_bytes: Int64Array
    is_part: Int64Array
    root: Int64Array
    peer: Int64Array
    is_sent: Int64Array
    sequence: Int64Array
    dtype_id: Int64Array


@dataclass(frozen=True, slots=True)
class Introduction:
    """A rank that a process learned when it made a communicator."""

    report: int
    global_pid: int
    device_id: int
    key: str
    rank: int
    rank_count: int


@dataclass(frozen=True, slots=True)
class CommunicatorKey:
    """What names a communicator over all reports; ``ranks`` of the job and ``size`` where they are told."""

    name: str
    ranks: tuple[int, ...] = ()
    size: int | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class CallsOfReport:
    """The calls of one report, the communicators they name, and what its processes were told when they made one."""

    calls: Calls
    communicators: tuple[CommunicatorKey, ...]
    introductions: tuple[Introduction, ...]


NO_CALLS = CallsOfReport(Calls(*[np.empty(0, np.int64)] * 12), (), ())


def calls_of(host: Host, report: int) -> CallsOfReport:
    """The communication calls of a report: PyTorch's own record of them, else NCCL's ranges with what is attached."""
    if host.trace.collective_calls is not None and len(host.trace.collective_calls):
        return _torch_calls(host, host.trace.collective_calls)
    return _nccl_calls(host, report)


def communicator_name(communicator_id: int) -> str:
    """NCCL's hash of a communicator as it prints it."""
    return f"0x{communicator_id & (1 << 64) - 1:016x}"


def _torch_calls(host: Host, recorded: CollectiveCalls) -> CallsOfReport:
    recorded = recorded.take(order_of(recorded.global_tid, recorded.start_ns, -recorded.end_ns))
    kind_ids, kind_of = coded(recorded.kind_id)
    numbers = {kind.value: place for place, kind in enumerate(KINDS)}
    kinds = np.array([numbers[host.trace.text(kind_id)] for kind_id in kind_ids.tolist()])[kind_of]
    groups = codes_of(recorded.group_id, recorded.group_size)
    first = np.unique(groups, return_index=True)[1]
    keys = tuple(_torch_key(host, recorded, row) for row in first.tolist())
    named = np.array([bool(key.name) for key in keys], np.bool_)
    calls = Calls(
        span_start_ns=recorded.start_ns,
        span_end_ns=recorded.end_ns,
        global_tid=recorded.global_tid.astype(np.int64),
        kind=kinds,
        communicator=np.where(named[groups], groups, -1),
        size_bytes=recorded.size_bytes,
        is_part=np.zeros(len(recorded), np.int64),
        root=np.full(len(recorded), ABSENT),
        peer=np.where(recorded.sends_to != ABSENT, recorded.sends_to, recorded.receives_from).astype(np.int64),
        is_sent=(recorded.sends_to != ABSENT).astype(np.int64),
        sequence=np.where(kinds == SEND_RECV, ABSENT, recorded.sequence),
        dtype_id=recorded.dtype_id.astype(np.int64),
    )
    return CallsOfReport(calls, keys, ())


def _torch_key(host: Host, recorded: CollectiveCalls, row: int) -> CommunicatorKey:
    name, size = host.trace.text(int(recorded.group_id[row])), int(recorded.group_size[row])
    known = next((group for group in host.trace.process_groups if group.name == name), None)
    told = None if size == ABSENT else size
    ranks = known.ranks if known is not None else ()
    if not ranks and told is not None and told == host.trace.world_size:
        ranks = tuple(range(told))
    return CommunicatorKey(name, ranks, told or len(ranks) or None, "" if known is None else known.description)


def _nccl_calls(host: Host, report: int) -> CallsOfReport:
    codes = _codes_of_ranges(host)
    rows = np.flatnonzero(codes != _OTHER)
    if not len(rows):
        return NO_CALLS
    ranges = host.ranges
    rows = rows[order_of(ranges.global_tid[rows], ranges.start_ns[rows], -host.range_ends_ns[rows])]
    codes, threads = codes[rows], ranges.global_tid[rows].astype(np.int64)
    starts_ns, ends_ns = ranges.start_ns[rows], host.range_ends_ns[rows]
    launched_by = _launching_rows(codes, threads)
    payloads = _payloads_of(host.trace.nccl_payloads, threads, starts_ns)
    introductions = _introductions(report, codes, threads, payloads)
    kept = np.flatnonzero((codes >= 0) & (launched_by >= 0))
    communicators, communicator_of = coded(payloads.communicator_id[kept])
    is_known = communicators != ABSENT
    places = np.where(is_known, np.cumsum(is_known) - 1, -1)
    keys = tuple(CommunicatorKey(communicator_name(found)) for found in communicators[is_known].tolist())
    wholes = [place for place, kind in enumerate(KINDS) if kind in _OF_THE_WHOLE or place == SEND_RECV]
    spans = launched_by[kept]
    nothing = np.full(len(kept), ABSENT)
    calls = Calls(
        span_start_ns=starts_ns[spans],
        span_end_ns=ends_ns[spans],
        global_tid=threads[kept],
        kind=codes[kept],
        communicator=places[communicator_of] if len(kept) else nothing,
        size_bytes=payloads.size_bytes[kept],
        is_part=(~np.isin(codes[kept], wholes)).astype(np.int64),
        root=payloads.root[kept].astype(np.int64),
        peer=payloads.peer[kept].astype(np.int64),
        is_sent=_is_send(host, rows[kept]),
        sequence=nothing,
        dtype_id=nothing,
    )
    return CallsOfReport(calls, keys, introductions)


def _codes_of_ranges(host: Host) -> Int64Array:
    """What each range is: a kind of call, the begin or end of a group, the making of a communicator, or none of it."""
    name_ids, name_of = coded(host.ranges.name_id)
    if not len(name_ids):
        return np.empty(0, np.int64)
    return np.array([_code(host.trace.text(name_id)) for name_id in name_ids.tolist()], np.int64)[name_of]


def _code(name: str) -> int:
    found = _NCCL_NAME.fullmatch(name)
    if found is None:
        return _OTHER
    call = found["call"].lower()
    return _INIT if call.startswith("comm") else _NCCL_CALLS.get(call, _OTHER)


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


def _payloads_of(payloads: NcclPayloads | None, threads: Int64Array, starts_ns: Int64Array) -> NcclPayloads:
    """The payload of each range, all of it ABSENT where there is none."""
    nothing = np.full(len(threads), ABSENT)
    if payloads is None or not len(payloads):
        return NcclPayloads(*[nothing] * 9)
    values, thread_of = coded(np.concatenate([payloads.global_tid, threads]))
    order = order_of(thread_of[: len(payloads)], payloads.start_ns)
    held_threads, held_ns = thread_of[: len(payloads)][order], payloads.start_ns[order]
    bounds = np.searchsorted(held_threads, np.arange(len(values) + 1))
    place = np.full(len(threads), -1)
    for thread in range(len(values)):
        asked = np.flatnonzero(thread_of[len(payloads) :] == thread)
        own_ns = held_ns[bounds[thread] : bounds[thread + 1]]
        if len(own_ns):
            near = np.searchsorted(own_ns, starts_ns[asked]).clip(max=len(own_ns) - 1)
            place[asked] = np.where(own_ns[near] == starts_ns[asked], order[bounds[thread] + near], -1)
    columns = {name: np.where(place >= 0, column[place], ABSENT) for name, column in payloads.columns().items()}
    return NcclPayloads(**columns)


def _introductions(
    report: int, codes: IdArray, threads: Int64Array, payloads: NcclPayloads
) -> tuple[Introduction, ...]:
    """What processes were told as they made communicators; there are few."""
    known = (payloads.rank >= 0) & (payloads.rank_count > payloads.rank) & (payloads.communicator_id != ABSENT)
    return tuple(
        Introduction(
            report=report,
            global_pid=int(threads[row]) & PROCESS_BITS,
            device_id=int(payloads.device_id[row]),
            key=communicator_name(int(payloads.communicator_id[row])),
            rank=int(payloads.rank[row]),
            rank_count=int(payloads.rank_count[row]),
        )
        for row in np.flatnonzero((codes == _INIT) & known).tolist()
    )
