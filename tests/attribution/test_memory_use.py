"""Memory in use over time: allocations and frees by address, against a walk event by event."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsysan.attribution.memory_use import MemoryCurve, driver_curve, summed
from nsysan.model.copies import MemoryKind, MemoryOperation
from nsysan.model.tables import MemoryEvents

ALLOCATE, FREE = int(MemoryOperation.ALLOCATION), int(MemoryOperation.DEALLOCATION)
DEVICE = int(MemoryKind.DEVICE)

Event = tuple[int, int, int, int]
"""Time, address, bytes, operation."""


def events_of(*events: Event, kind: int = DEVICE) -> MemoryEvents:
    times_ns, addresses, sizes_bytes, operations = (np.array(column) for column in zip(*events, strict=True))
    constant = [np.full(len(events), value) for value in (7 << 24, 0, kind)]
    return MemoryEvents(times_ns, constant[0], constant[1], addresses, sizes_bytes, constant[2], operations)


def points(curve: MemoryCurve) -> list[tuple[int, int]]:
    return list(zip(curve.times_ns.tolist(), curve.in_use_bytes.tolist(), strict=True))


def test_blocks_come_and_go() -> None:
    curve = driver_curve(
        events_of((10, 0xA, 100, ALLOCATE), (20, 0xB, 50, ALLOCATE), (30, 0xA, 100, FREE), (40, 0xC, 30, ALLOCATE))
    )

    assert points(curve) == [(10, 100), (20, 150), (30, 50), (40, 80)]
    assert (curve.start_bytes, curve.peak_bytes, curve.end_bytes) == (0, 150, 80)


def test_what_is_freed_without_having_been_allocated_was_there_from_the_start() -> None:
    curve = driver_curve(events_of((10, 0xA, 100, ALLOCATE), (20, 0xB, 70, FREE)))

    assert points(curve) == [(10, 170), (20, 100)]
    assert (curve.start_bytes, curve.peak_bytes) == (70, 170)


def test_an_address_handed_out_again_was_freed_in_between() -> None:
    curve = driver_curve(events_of((10, 0xA, 100, ALLOCATE), (20, 0xA, 40, ALLOCATE), (30, 0xA, 40, FREE)))

    assert points(curve) == [(10, 100), (20, 40), (30, 0)]


def test_a_second_free_frees_nothing() -> None:
    assert points(driver_curve(events_of((10, 0xA, 9, ALLOCATE), (20, 0xA, 9, FREE), (30, 0xA, 9, FREE)))) == [
        (10, 9),
        (20, 0),
        (30, 0),
    ]


def test_memory_of_the_host_is_not_on_the_device() -> None:
    curve = driver_curve(events_of((10, 0xA, 100, ALLOCATE), kind=int(MemoryKind.PINNED)))

    assert (points(curve), curve.peak_bytes, curve.end_bytes) == ([], 0, 0)


def test_two_processes_add_up() -> None:
    one = driver_curve(events_of((10, 0xA, 100, ALLOCATE), (30, 0xA, 100, FREE)))
    other = driver_curve(events_of((20, 0xA, 7, ALLOCATE), (40, 0xB, 5, FREE)))

    both = summed([one, other])

    assert points(both) == [(10, 105), (20, 112), (30, 12), (40, 7)]
    assert both.start_bytes == 5


def test_summits_keep_the_peak_of_each_stretch() -> None:
    curve = MemoryCurve(np.array([0, 1, 2, 50, 51, 99]), np.array([5, 9, 9, 1, 2, 3]), 0)

    times_ns, sizes_bytes = curve.summits(2)

    assert (times_ns.tolist(), sizes_bytes.tolist()) == ([1, 99], [9, 3])


EVENTS = st.lists(
    st.tuples(st.sampled_from([0xA, 0xB, 0xC]), st.integers(1, 9), st.sampled_from([ALLOCATE, FREE])), max_size=12
)


@given(EVENTS)
def test_as_a_walk_event_by_event(found: list[tuple[int, int, int]]) -> None:
    events = [(time_ns, *event) for time_ns, event in enumerate(found)]
    if not events:
        return
    start_bytes, in_use = 0, dict.fromkeys((0xA, 0xB, 0xC), 0)
    first_seen: set[int] = set()
    for _, address, size_bytes, operation in events:
        if address not in first_seen and operation == FREE:
            start_bytes += size_bytes
            in_use[address] = size_bytes
        first_seen.add(address)
    walked = []
    for time_ns, address, size_bytes, operation in events:
        in_use[address] = size_bytes if operation == ALLOCATE else 0
        walked.append((time_ns, sum(in_use.values())))

    curve = driver_curve(events_of(*events))

    assert (points(curve), curve.start_bytes) == (walked, start_bytes)
