"""The communication calls of a report, by the best source it has."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.collectives.calls import Calls, CallsOfReport
from nsysan.attribution.collectives.kinds import KINDS
from nsysan.attribution.collectives.nccl_calls import nccl_calls
from nsysan.attribution.collectives.torch_calls import torch_calls
from nsysan.attribution.host import Host
from nsysan.attribution.kernel_class import classify
from nsysan.attribution.launch import NO_CALL
from nsysan.model.distinct import coded
from nsysan.model.kernels import Collective
from nsysan.model.tables import ABSENT
from nsysan.timeline.ordering import order_of


def calls_of(host: Host, report: int) -> CallsOfReport:
    """The communication calls of a report: PyTorch's own record of them, else NCCL's ranges with what is attached."""
    if host.trace.collective_calls is not None and len(host.trace.collective_calls):
        return torch_calls(host, host.trace.collective_calls)
    return nccl_calls(host, report)


def launching_calls(host: Host) -> Calls:
    """The CUDA calls that launch NCCL's kernels, as calls of which nothing but the kind is known."""
    kernels = host.trace.kernels
    if kernels is None or not len(kernels):
        return Calls(*[np.empty(0, np.int64)] * 12)
    name_ids, name_of = coded(kernels.name_id)
    kinds = np.array([_kind(host.trace.text(name_id)) for name_id in name_ids.tolist()], np.int64)[name_of]
    launch = host.launches.rows["kernels"]
    rows = np.flatnonzero((kinds >= 0) & (launch != NO_CALL))
    rows = rows[order_of(host.calls.global_tid[launch[rows]], host.calls.start_ns[launch[rows]])]
    nothing, unknown = np.full(len(rows), ABSENT), np.full(len(rows), -1)
    return Calls(
        span_start_ns=host.calls.start_ns[launch[rows]],
        span_end_ns=host.calls.end_ns[launch[rows]],
        global_tid=host.calls.global_tid[launch[rows]].astype(np.int64),
        kind=kinds[rows],
        communicator=unknown,
        size_bytes=nothing,
        is_part=np.zeros(len(rows), np.int64),
        root=nothing,
        peer=nothing,
        is_sent=np.zeros(len(rows), np.int64),
        sequence=nothing,
        dtype=unknown,
    )


def _kind(name: str) -> int:
    """The kind of an NCCL kernel, -1 of any other."""
    found = classify(name)
    is_nccl = found.collective is not None and "nccl" in name.lower()
    return KINDS.index(found.collective or Collective.UNKNOWN) if is_nccl else -1
