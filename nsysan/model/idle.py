"""The causes of idle time, by the names ``run.json`` uses, and time per cause."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec
from msgspec.structs import astuple


class Cause(str, Enum):
    """What a GPU that idles waits for; docs/metrics.md says when each holds."""

    PROFILER_OVERHEAD = "profiler_overhead"
    DATA_LOADING = "data_loading"
    CHECKPOINT = "checkpoint"
    GARBAGE_COLLECTION = "garbage_collection"
    HOST_COMMUNICATION = "host_communication"
    HOST_SYNC = "host_sync"
    BLOCKING_COPY = "blocking_copy"
    ALLOCATOR = "allocator"
    MODULE_LOADING = "module_loading"
    GRAPH_BUILD = "graph_build"
    SLOW_LAUNCH = "slow_launch"
    OS_BLOCKED = "os_blocked"
    LAUNCH_STARVED = "launch_starved"
    LAUNCH_LATENCY = "launch_latency"
    HANDOVER = "handover"
    DEVICE_WAIT = "device_wait"
    UNIFIED_MEMORY = "unified_memory"
    UNKNOWN = "unknown"


class IdleCauses(msgspec.Struct, frozen=True):
    """Idle time per cause; the fields add up to the idle time."""

    profiler_overhead_ns: int
    data_loading_ns: int
    checkpoint_ns: int
    garbage_collection_ns: int
    host_communication_ns: int
    host_sync_ns: int
    blocking_copy_ns: int
    allocator_ns: int
    module_loading_ns: int
    graph_build_ns: int
    slow_launch_ns: int
    os_blocked_ns: int
    launch_starved_ns: int
    launch_latency_ns: int
    handover_ns: int
    device_wait_ns: int
    unified_memory_ns: int
    unknown_ns: int

    @classmethod
    def of_times(cls, times_ns: Mapping[Cause, int]) -> IdleCauses:
        """These times, and 0 for every other cause."""
        return cls(**{f"{cause.value}_ns": times_ns.get(cause, 0) for cause in Cause})

    def of(self, cause: Cause) -> int:
        """The time of one cause."""
        value: int = getattr(self, f"{cause.value}_ns")
        return value

    @property
    def idle_ns(self) -> int:
        """The idle time that the causes share."""
        return sum(astuple(self))
