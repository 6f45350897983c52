"""What time can be lost to, by the names findings use, and which of the five classes each belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from nsysan.model.idle import Cause
from nsysan.model.verdicts import BottleneckClass

EXPOSED_COLLECTIVE = "exposed_collective"
PIPELINE_BUBBLE = "pipeline_bubble"
SLOW_COMPUTE = "slow_compute"
CLOCK_THROTTLE = "clock_throttle"
MOE_SKEW = "moe_skew"
EXPOSED_COPY = "exposed_copy"
RECOMPUTATION = "recomputation"
SAME_STREAM = "same_stream"
CONTENTION = "contention"
INEFFICIENT_GEMM = "inefficient_gemm"
NON_GEMM = "non_gemm"
SLOW_LINK = "slow_link"


class Bound(str, Enum):
    """In which direction an estimate of recoverable time errs."""

    AT_MOST = "at_most"
    """What stood behind it may come to light: no more than this is won."""
    AT_LEAST = "at_least"
    """What it delayed on other ranks comes on top."""
    EITHER = "either"
    """It may be a little more or less."""


class Basis(str, Enum):
    """What recoverable time is a share of."""

    STEPS = "steps"
    """The mean steady step."""
    AFTER_START_UP = "after_start_up"
    """The window after start-up, where no steps are known."""
    WINDOW = "window"
    """The whole window: the user chose it, or nothing tells start-up apart."""


_SCHEDULING = BottleneckClass.SCHEDULING
CLASS_OF_CAUSE: Mapping[Cause, BottleneckClass | None] = {
    Cause.PROFILER_OVERHEAD: None,
    Cause.DATA_LOADING: BottleneckClass.DATA,
    Cause.CHECKPOINT: _SCHEDULING,
    Cause.GARBAGE_COLLECTION: _SCHEDULING,
    Cause.HOST_COMMUNICATION: BottleneckClass.COMMUNICATION,
    Cause.HOST_SYNC: _SCHEDULING,
    Cause.BLOCKING_COPY: None,
    Cause.ALLOCATOR: BottleneckClass.MEMORY,
    Cause.MODULE_LOADING: _SCHEDULING,
    Cause.GRAPH_BUILD: _SCHEDULING,
    Cause.SLOW_LAUNCH: _SCHEDULING,
    Cause.OS_BLOCKED: _SCHEDULING,
    Cause.LAUNCH_STARVED: _SCHEDULING,
    Cause.LAUNCH_LATENCY: _SCHEDULING,
    Cause.HANDOVER: _SCHEDULING,
    Cause.DEVICE_WAIT: _SCHEDULING,
    Cause.UNIFIED_MEMORY: BottleneckClass.MEMORY,
    Cause.UNKNOWN: None,
}
"""The class of idle time by cause; that of a blocking copy depends on what it copies.

A device wait belongs to what is awaited. On an idle GPU that is seldom another stream: the driver holds work back, as
it does to batch it under Windows, which is scheduling.
"""

FINDING_OF_CAUSE: Mapping[Cause, Cause] = {Cause.LAUNCH_LATENCY: Cause.LAUNCH_STARVED}
"""Causes of idle time that one remedy removes are one loss: launches that come late, and that take long."""


def lost_to(cause: Cause) -> str:
    """What idle time of this cause is called among losses and findings."""
    return FINDING_OF_CAUSE.get(cause, cause).value
