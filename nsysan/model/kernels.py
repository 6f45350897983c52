"""The classes of kernels, and the collectives, by the names ``run.json`` uses."""

from enum import Enum


class KernelClass(str, Enum):
    """What a kernel does, as far as its name tells."""

    GEMM = "gemm"
    ATTENTION = "attention"
    COMMUNICATION = "communication"
    FUSED_COMMUNICATION = "fused_communication"
    NORMALIZATION = "normalization"
    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    OPTIMIZER = "optimizer"
    EMBEDDING = "embedding"
    CONVOLUTION = "convolution"
    COPY = "copy"
    MEMSET = "memset"
    TRITON = "triton"
    OTHER = "other"


COMMUNICATING = frozenset({KernelClass.COMMUNICATION, KernelClass.FUSED_COMMUNICATION})
"""Kernels whose time may be waiting for other ranks."""
MULTIPLYING = frozenset({KernelClass.GEMM, KernelClass.ATTENTION})
"""Kernels that do nearly all FLOP of a language model."""
OF_LAYERS = MULTIPLYING | {KernelClass.CONVOLUTION}
"""Kernels of forward and backward: an optimizer runs none."""


class Collective(str, Enum):
    """What a communication kernel does; ``UNKNOWN`` where its name does not tell."""

    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "all_gather"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    GATHER = "gather"
    SCATTER = "scatter"
    SEND_RECV = "send_recv"
    BARRIER = "barrier"
    UNKNOWN = "unknown"


_NAMED_LIKE_CALLS = {
    "".join(kind.value.split("_")): kind for kind in Collective if kind not in {Collective.BARRIER, Collective.UNKNOWN}
}
COLLECTIVE_OF_CALL = _NAMED_LIKE_CALLS | {
    "bcast": Collective.BROADCAST,
    "send": Collective.SEND_RECV,
    "recv": Collective.SEND_RECV,
}
"""What a call of NCCL, a line of its log or a program of nccl-tests does, by its name in small letters alone."""


def collective_called(name: str) -> Collective | None:
    """What the call of this name does, however its words are put together (``AllReduce``, ``all_reduce``)."""
    return COLLECTIVE_OF_CALL.get(name.lower().replace("_", ""))
