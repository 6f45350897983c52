"""Hand-written reports with NCCL's calls, the kernels they launch and what is attached to their ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.synth.export import Export
from nsysan.synth.simulation.payload import Payload, PayloadSchema

if TYPE_CHECKING:
    from collections.abc import Mapping

MS = 1_000_000
DOMAIN = 1
COMMUNICATOR = 0xD1373F8C6AC1BA54
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)"
ALL_GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevComm*)"
REDUCE_SCATTER = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevComm*)"
SEND_RECV = "ncclDevKernel_SendRecv(ncclDevComm*)"
Span = tuple[int, int]


def job(
    *pids: int, communicator: int | None = COMMUNICATOR, rank_count: int | None = None, first_rank: int = 0
) -> Export:
    """A report of these processes, each with a GPU of its own; with a communicator they make it before time 0."""
    export = Export()
    for schema in PayloadSchema:
        export.payload_schema(schema, domain=DOMAIN)
    for rank, pid in enumerate(pids, start=first_rank):
        export.nvtx_domain(DOMAIN, "NCCL", pid=pid)
        if communicator is not None:
            values = (communicator, rank_count or len(pids), rank, 0)
            blob = Payload(PayloadSchema.COMM_INIT_RANK_CONFIG, values).blob(DOMAIN)
            export.nvtx(-90, -10, "ncclCommInitRankConfig", pid=pid, domain=DOMAIN, payload=blob)
    return export


def launched(  # noqa: PLR0913, PLR0917 -- one parameter a property of the launch
    export: Export, pid: int, call_ns: int, span_ns: Span, name: str, calls: Mapping[str, Payload | None]
) -> Export:
    """A kernel and NCCL's calls that led to it: several are a group, which the kernel is launched at the end of."""
    correlation = 1 + call_ns
    begin_ns = call_ns
    if len(calls) > 1:
        _range(export, pid, (call_ns, call_ns + 1), "ncclGroupStart", None)
        for place, (name_of_call, payload) in enumerate(calls.items(), start=1):
            _range(export, pid, (call_ns + 2 * place, call_ns + 2 * place + 1), name_of_call, payload)
        begin_ns = call_ns + 2 * len(calls) + 2
        _range(export, pid, (begin_ns, begin_ns + 9), "ncclGroupEnd", None)
    else:
        [(name_of_call, payload)] = calls.items()
        _range(export, pid, (begin_ns, begin_ns + 9), name_of_call, payload)
    export.call(begin_ns + 1, begin_ns + 5, "cudaLaunchKernelExC_v11060", pid=pid, correlation=correlation)
    return export.kernel(*span_ns, name, pid=pid, stream=9, correlation=correlation)


def _range(export: Export, pid: int, span_ns: Span, text: str, payload: Payload | None) -> None:
    blob = None if payload is None else payload.blob(DOMAIN)
    # several calls of one name are told apart by what stands behind it here, and by nothing in a report
    export.nvtx(*span_ns, text.partition("#")[0], pid=pid, domain=DOMAIN, payload=blob)
