"""What a GPU that idles waits for, in the words of a sentence."""

from __future__ import annotations

from nsysan.model.idle import Cause

_AWAITED = {
    Cause.PROFILER_OVERHEAD: "the profiler",
    Cause.DATA_LOADING: "the data loader",
    Cause.CHECKPOINT: "checkpoints",
    Cause.GARBAGE_COLLECTION: "garbage collection",
    Cause.HOST_COMMUNICATION: "communication of the host",
    Cause.HOST_SYNC: "a host that synchronised",
    Cause.BLOCKING_COPY: "blocking copies",
    Cause.ALLOCATOR: "the allocator",
    Cause.MODULE_LOADING: "code to be loaded",
    Cause.GRAPH_BUILD: "CUDA graphs to be built",
    Cause.SLOW_LAUNCH: "slow launch calls",
    Cause.OS_BLOCKED: "a host thread that the operating system held back",
    Cause.LAUNCH_STARVED: "the host to launch work",
    Cause.LAUNCH_LATENCY: "launch calls to take effect",
    Cause.HANDOVER: "work already launched to begin",
    Cause.DEVICE_WAIT: "what held launched work back",
    Cause.UNIFIED_MEMORY: "unified memory to move",
    Cause.UNKNOWN: "something unknown",
}


def awaited(cause: Cause) -> str:
    """What a GPU that idles by this cause waits for: ``the data loader``."""
    return _AWAITED[cause]
