"""The device memory of a simulated rank: what it reserves at the start, and what its allocator does later."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from nsysan.synth.simulation.timelines import Call

_PARAMETER_BYTES = 16
"""bfloat16 weight and gradient; single-precision weight and two moments."""
_KEPT_ACTIVATIONS = 17
"""So many times the width a layer keeps for its backward."""
_GRANULE_BYTES = 2 << 20
"""What the driver hands out memory in."""
_FIRST_ADDRESS = 0x7F20_0000_0000


class Footprint(msgspec.Struct, frozen=True):
    """The sizes of a model that decide how much memory a rank needs."""

    layer_count: int
    parameter_count: int
    activation_bytes: int


class MemoryEvent(msgspec.Struct, frozen=True):
    """Memory allocated or freed by a call; ``correlation_id`` None: before the first that is simulated."""

    time_ns: int
    address: int
    size_bytes: int
    is_freed: bool
    correlation_id: int | None


class MemoryTruth(msgspec.Struct, frozen=True):
    """Memory that the driver reserved for a rank: after the start, at the peak, at the end."""

    start_bytes: int
    peak_bytes: int
    end_bytes: int


def memory_events(calls: Sequence[Call], start_ns: int, footprint: Footprint) -> tuple[MemoryEvent, ...]:
    """Allocations and frees of a rank whose program begins at ``start_ns``, in order.

    Of the blocks that the allocator changes for one another, the last is the first again: a repeated recording
    begins as it ended.
    """
    blocks = _blocks(footprint, sum(_allocates(call) for call in calls))
    reserved = [MemoryEvent(start_ns, address, size, is_freed=False, correlation_id=None) for address, size in blocks]
    kept = 2 * footprint.layer_count
    return (*reserved[: kept + 1], *_changes(calls, blocks[kept:]))


def memory_truth(events: Sequence[MemoryEvent]) -> MemoryTruth:
    """The memory in use over time, in three figures."""
    start_bytes = sum(event.size_bytes for event in events if event.correlation_id is None)
    changes = (
        (-event.size_bytes if event.is_freed else event.size_bytes)
        for event in events
        if event.correlation_id is not None
    )
    in_use = list(accumulate(changes, initial=start_bytes))
    return MemoryTruth(start_bytes, max(in_use), in_use[-1])


def _changes(calls: Sequence[Call], blocks: Sequence[tuple[int, int]]) -> Iterator[MemoryEvent]:
    live = deque(blocks[:1])
    allocated = 0
    for call in calls:
        if call.name.startswith("cudaFree"):
            address, size = live.popleft()
            yield MemoryEvent(call.end_ns, address, size, is_freed=True, correlation_id=call.correlation_id)
        elif _allocates(call):
            allocated += 1
            live.append(blocks[allocated % len(blocks)])
            yield MemoryEvent(call.end_ns, *live[-1], is_freed=False, correlation_id=call.correlation_id)


def _allocates(call: Call) -> bool:
    return call.name.startswith("cudaMalloc")


def _blocks(footprint: Footprint, changed_count: int) -> list[tuple[int, int]]:
    """Address and bytes of the blocks: of parameters and activations a layer, then those that the allocator changes."""
    layer = (_PARAMETER_BYTES * footprint.parameter_count, _KEPT_ACTIVATIONS * footprint.activation_bytes)
    changed = ((4 + block % 3) * footprint.activation_bytes for block in range(changed_count))
    sizes = [-(-size // _GRANULE_BYTES) * _GRANULE_BYTES for size in (*layer * footprint.layer_count, *changed)]
    addresses = accumulate(sizes[:-1], initial=_FIRST_ADDRESS)
    return list(zip(addresses, sizes, strict=True))
