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
