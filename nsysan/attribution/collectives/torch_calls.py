"""Calls of collectives as PyTorch's profiler records them (``record_param_comms``)."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.collectives.calls import Calls, CallsOfReport, CommunicatorKey
from nsysan.attribution.collectives.kinds import KINDS, SEND_RECV
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.model.distinct import coded
from nsysan.model.tables import ABSENT, CollectiveCalls
from nsysan.timeline.ordering import order_of


def torch_calls(host: Host, recorded: CollectiveCalls) -> CallsOfReport:
    """The calls in PyTorch's own record of them."""
    recorded = in_order_of_stretches(recorded)
    kind_ids, kind_of = coded(recorded.kind_id)
    numbers = {kind.value: place for place, kind in enumerate(KINDS)}
    kinds = np.array([numbers[host.trace.text(kind_id)] for kind_id in kind_ids.tolist()])[kind_of]
    dtype_ids, dtype_of = coded(recorded.dtype_id)
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
        dtype=dtype_of,
    )
    return CallsOfReport(calls, keys, (), tuple(host.trace.text(dtype_id) for dtype_id in dtype_ids.tolist()))


def in_order_of_stretches(recorded: CollectiveCalls) -> CollectiveCalls:
    """The calls by thread and begin, of those that begin together the longest first."""
    return recorded.take(order_of(recorded.global_tid, recorded.start_ns, -recorded.end_ns))


def _torch_key(host: Host, recorded: CollectiveCalls, row: int) -> CommunicatorKey:
    name, size = host.trace.text(int(recorded.group_id[row])), int(recorded.group_size[row])
    known = next((group for group in host.trace.process_groups if group.name == name), None)
    told = None if size == ABSENT else size
    ranks = known.ranks if known is not None else ()
    if not ranks and told is not None and told == host.trace.world_size:
        ranks = tuple(range(told))
    return CommunicatorKey(name, ranks, told or len(ranks) or None, "" if known is None else known.description)
