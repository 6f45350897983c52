"""Waits and transfers of single instances, against the definition spelt out rank by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.attribution.collectives.kinds import Meeting
from nsysan.attribution.collectives.waiting import waits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Span = tuple[int, int]
SPANS = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 40)), min_size=1, max_size=6)


def _defined(meeting: Meeting, spans: Sequence[Span], root: int) -> tuple[int, list[int]]:
    """DESIGN's words: transfer of the instance, and the wait of each rank."""
    durations = [end - start for start, end in spans]
    if meeting is Meeting.SYMMETRIC:
        return min(durations), [duration - min(durations) for duration in durations]
    if meeting is Meeting.FROM_ROOT:
        transfers = [max(end - max(start, spans[root][0]), 0) for start, end in spans]
        return max(transfers), [duration - own for duration, own in zip(durations, transfers, strict=True)]
    transfer = max(spans[root][1] - max(start for start, _ in spans), 0)
    return transfer, [durations[root] - transfer if rank == root else 0 for rank in range(len(spans))]


@pytest.mark.parametrize("meeting", [Meeting.SYMMETRIC, Meeting.FROM_ROOT, Meeting.TO_ROOT])
@settings(deadline=None)
@given(instances=st.lists(SPANS, min_size=1, max_size=4), data=st.data())
def test_any_instances(meeting: Meeting, instances: list[list[Span]], data: st.DataObject) -> None:
    rank_count = len(instances[0])
    whole = [instance for instance in instances if len(instance) == rank_count]
    spans = [[(start, start + length) for start, length in instance] for instance in whole]
    roots = [data.draw(st.integers(0, rank_count - 1)) for _ in spans]
    start_ns, end_ns = (np.array([[span[side] for span in instance] for instance in spans]) for side in (0, 1))

    found = waits_of(meeting, start_ns, end_ns, np.array(roots))

    expected = [_defined(meeting, instance, root) for instance, root in zip(spans, roots, strict=True)]
    assert list(zip(found.transfer_ns.tolist(), found.wait_ns.tolist(), strict=True)) == expected


def test_all_reduce_with_one_late_rank() -> None:
    # C15: starts 0, 0, 0, 30, all end 33
    found = waits_of(Meeting.SYMMETRIC, np.array([[0, 0, 0, 30]]), np.array([[33] * 4]), np.zeros(1, np.int64))

    assert (found.transfer_ns.tolist(), found.wait_ns.tolist()) == ([3], [[30, 30, 30, 0]])


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="who needs whom"):
        waits_of(Meeting.UNKNOWN, np.array([[0, 0]]), np.array([[1, 1]]), np.zeros(1, np.int64))
