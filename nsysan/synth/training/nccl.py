"""How NCCL's calls and kernels are spelt, and what their NVTX ranges carry."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.model.kernels import Collective
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.payload import REDUCTIONS, Payload, PayloadSchema
from nsysan.synth.simulation.program import Action, HostWork, Pop, Push, Rendezvous
from nsysan.synth.training.domains import NCCL_DOMAIN

_CALL_NS = 400
"""Host time of a call that launches nothing."""
_INIT_NS = 2_000_000
_ARGUMENTS = "(ncclDevKernelArgsStorage<(unsigned long)4096>)"
_MESSAGES_KERNEL = f"ncclDevKernel_SendRecv{_ARGUMENTS}"
_KERNELS = {
    Collective.ALL_REDUCE: f"ncclDevKernel_AllReduce_Sum_bf16_RING_LL{_ARGUMENTS}",
    Collective.ALL_GATHER: f"ncclDevKernel_AllGather_RING_LL{_ARGUMENTS}",
    Collective.REDUCE_SCATTER: f"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL{_ARGUMENTS}",
    Collective.BROADCAST: f"ncclDevKernel_Broadcast_RING_LL{_ARGUMENTS}",
    Collective.REDUCE: f"ncclDevKernel_Reduce_Sum_bf16_RING_LL{_ARGUMENTS}",
}
_CALLS = {
    Collective.ALL_REDUCE: ("ncclAllReduce", PayloadSchema.ALL_REDUCE),
    Collective.ALL_GATHER: ("ncclAllGather", PayloadSchema.ALL_GATHER),
    Collective.REDUCE_SCATTER: ("ncclReduceScatter", PayloadSchema.REDUCE_SCATTER),
    Collective.BROADCAST: ("ncclBroadcast", PayloadSchema.BROADCAST),
    Collective.REDUCE: ("ncclReduce", PayloadSchema.REDUCE),
    Collective.GATHER: ("ncclGather", PayloadSchema.GATHER),
    Collective.SCATTER: ("ncclScatter", PayloadSchema.SCATTER),
}
_MESSAGE_CALLS = (("ncclSend", PayloadSchema.SEND), ("ncclRecv", PayloadSchema.RECV))
_OF_THE_WHOLE = frozenset({Collective.ALL_REDUCE, Collective.BROADCAST, Collective.REDUCE})


def kernel_name(kind: Collective) -> str:
    """The kernel that runs such a collective; what is made of messages has one name for all."""
    return _KERNELS.get(kind, _MESSAGES_KERNEL)


def initialisation(communicator: Communicator, rank: int, device_id: int) -> Iterator[Action]:
    """The call that makes a communicator, the only one that tells its size and this rank's number in it."""
    ranks = communicator.ranks
    values = (communicator.hash, len(ranks), ranks.index(rank), device_id)
    yield from _call("ncclCommInitRankConfig", Payload(PayloadSchema.COMM_INIT_RANK_CONFIG, values), _INIT_NS)


def calls(rendezvous: Rendezvous, rank: int, launch: list[Action]) -> Iterator[Action]:
    """The calls of one rank for its part of a collective, with the ``launch`` of the kernel in the last of them."""
    if rendezvous.messages:
        yield from _call("ncclGroupStart", None, _CALL_NS)
        yield from _message_calls(rendezvous, rank)
        yield Push("ncclGroupEnd", NCCL_DOMAIN)
    else:
        name, schema = _CALLS[rendezvous.collective]
        yield Push(name, NCCL_DOMAIN, payload=Payload(schema, _values(rendezvous, schema)))
    yield from launch
    yield Pop()


def _message_calls(rendezvous: Rendezvous, rank: int) -> Iterator[Action]:
    """What the rank sends to each peer and receives from it, peer by peer, as PyTorch calls them."""
    sent = [(message.target, 0, message.size_bytes) for message in rendezvous.messages if message.source == rank]
    received = [(message.source, 1, message.size_bytes) for message in rendezvous.messages if message.target == rank]
    communicator = rendezvous.communicator
    for peer, way, size_bytes in sorted(sent + received):
        name, schema = _MESSAGE_CALLS[way]
        values = (communicator.hash, size_bytes, communicator.ranks.index(peer))
        yield from _call(name, Payload(schema, values), _CALL_NS)


def _values(rendezvous: Rendezvous, schema: PayloadSchema) -> tuple[int, ...]:
    ranks, size_bytes = rendezvous.communicator.ranks, rendezvous.size_bytes
    told_bytes = size_bytes if rendezvous.collective in _OF_THE_WHOLE else size_bytes // len(ranks)
    root = () if rendezvous.root is None else (ranks.index(rendezvous.root),)
    known = (rendezvous.communicator.hash, told_bytes, *root)
    return known if len(known) == len(schema.entries) else (*known, REDUCTIONS["Sum"])


def _call(name: str, payload: Payload | None, duration_ns: int) -> Iterator[Action]:
    yield Push(name, NCCL_DOMAIN, payload=payload)
    yield HostWork(duration_ns)
    yield Pop()
