"""The parts that every nanosecond of a GPU's window is split into, and the kinds of activity they are made of."""

from __future__ import annotations

from enum import Enum, IntFlag

import msgspec
from msgspec.structs import astuple


class Activity(IntFlag):
    """The kinds of GPU activity, as bits of the set that is running at one moment."""

    COMPUTE = 1
    """C: compute kernels, those of no known family included."""
    COMMUNICATION = 2
    """N: collective and point-to-point kernels, and copies between two devices."""
    FUSED = 4
    """F: kernels that compute and communicate at once."""
    GRAPH = 8
    """G: whole-graph records, whose kernels are unknown."""
    COPY = 16
    """M: other copies, and memsets."""


class Part(str, Enum):
    """The parts, in the order they are always shown."""

    COMPUTE_ONLY = "compute_only"
    OVERLAPPED = "overlapped"
    FUSED = "fused"
    OPAQUE_GRAPH = "opaque_graph"
    EXPOSED_COMMUNICATION = "exposed_communication"
    EXPOSED_COPY = "exposed_copy"
    IDLE = "idle"


COMPUTING_PARTS = frozenset({Part.COMPUTE_ONLY, Part.OVERLAPPED, Part.FUSED})
"""The parts in which compute runs: of these the GPU with the smallest share is worst off, of the others the largest."""


class PartTimes(msgspec.Struct, frozen=True):
    """Time per part; the fields add up to the window."""

    compute_only_ns: int
    overlapped_ns: int
    fused_ns: int
    opaque_graph_ns: int
    exposed_communication_ns: int
    exposed_copy_ns: int
    idle_ns: int

    def of(self, part: Part) -> int:
        """The time of one part."""
        value: int = getattr(self, f"{part.value}_ns")
        return value

    @property
    def window_ns(self) -> int:
        """The window that the parts fill."""
        return sum(astuple(self))


def part_of(running: Activity) -> Part:
    """The part a moment belongs to, by the set of activities that run then.

    compute_only = C - (N + F); overlapped = C & (N + F); fused = F - C; opaque_graph = G - (C + F);
    exposed_communication = N - (C + F + G); exposed_copy = M - (C + F + G + N); idle = the rest.
    """
    if Activity.COMPUTE in running:
        shared = running & (Activity.COMMUNICATION | Activity.FUSED)
        return Part.OVERLAPPED if shared else Part.COMPUTE_ONLY
    for activity, part in (
        (Activity.FUSED, Part.FUSED),
        (Activity.GRAPH, Part.OPAQUE_GRAPH),
        (Activity.COMMUNICATION, Part.EXPOSED_COMMUNICATION),
        (Activity.COPY, Part.EXPOSED_COPY),
    ):
        if activity in running:
            return part
    return Part.IDLE
