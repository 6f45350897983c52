"""Why a rank comes late to collectives."""

from __future__ import annotations

from enum import Enum

from nsysan.model.idle import Cause
from nsysan.model.losses import CLOCK_THROTTLE, SLOW_COMPUTE


class Lateness(str, Enum):
    """What a late rank does longer than those that wait for it: it computes, or it idles by a cause of its own."""

    SLOW_COMPUTE = SLOW_COMPUTE
    """Its kernels take longer, some more than others."""
    CLOCK_THROTTLE = CLOCK_THROTTLE
    """All its kernels take longer by one ratio."""
    MORE_WORK = "more_work"
    """It has more of them, or more to send."""
    PIPELINE_POSITION = "pipeline_position"
    """It does what its stage does, and other stages wait for that."""
    PROFILER_OVERHEAD = Cause.PROFILER_OVERHEAD.value
    DATA_LOADING = Cause.DATA_LOADING.value
    CHECKPOINT = Cause.CHECKPOINT.value
    GARBAGE_COLLECTION = Cause.GARBAGE_COLLECTION.value
    HOST_COMMUNICATION = Cause.HOST_COMMUNICATION.value
    HOST_SYNC = Cause.HOST_SYNC.value
    BLOCKING_COPY = Cause.BLOCKING_COPY.value
    ALLOCATOR = Cause.ALLOCATOR.value
    MODULE_LOADING = Cause.MODULE_LOADING.value
    GRAPH_BUILD = Cause.GRAPH_BUILD.value
    SLOW_LAUNCH = Cause.SLOW_LAUNCH.value
    OS_BLOCKED = Cause.OS_BLOCKED.value
    LAUNCH_STARVED = Cause.LAUNCH_STARVED.value
    LAUNCH_LATENCY = Cause.LAUNCH_LATENCY.value
    HANDOVER = Cause.HANDOVER.value
    DEVICE_WAIT = Cause.DEVICE_WAIT.value
    UNIFIED_MEMORY = Cause.UNIFIED_MEMORY.value
    UNKNOWN = Cause.UNKNOWN.value
