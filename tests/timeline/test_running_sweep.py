"""A sweep that goes on from piece to piece finds what one sweep of everything finds."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.model.partition import Activity
from nsysan.timeline import running_sweep
from nsysan.timeline.gap_sizes import SIZE_BOUNDS_NS
from nsysan.timeline.occupancy import sweep
from nsysan.timeline.running_sweep import RunningSweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Piece = tuple[int, int, Activity]
PIECES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20), st.sampled_from(list(Activity))), max_size=25)


@pytest.fixture(scope="module", params=["columns", "loop", "machine code"])
def new_sweep(request: pytest.FixtureRequest) -> Iterator[Callable[[], RunningSweep]]:
    """A sweep from 0 on."""
    if request.param == "machine code":
        pytest.importorskip("numba", reason="numba is not installed")
    with pytest.MonkeyPatch.context() as patched:
        if request.param == "loop":
            patched.setattr(running_sweep, "compiled", lambda loop: loop)
        yield lambda: RunningSweep(0, as_machine_code=request.param != "columns")


@settings(deadline=None)
@given(PIECES, st.lists(st.integers(0, 60), max_size=5), st.integers(0, 4))
def test_pieces_give_what_the_whole_gives(
    new_sweep: Callable[[], RunningSweep], drawn: list[Piece], cuts: list[int], above_ns: int
) -> None:
    rows = sorted((start, start + length, int(kind)) for start, length, kind in drawn)
    start_ns, end_ns, bits = np.array(rows, np.int64).reshape(-1, 3).T
    kinds = bits.astype(np.uint8)
    running = new_sweep()
    gaps: list[tuple[int, int]] = []

    for first, last in pairwise(sorted({-1, *cuts, 70})):
        inside = (start_ns > first) & (start_ns <= last)
        found = running.advance(start_ns[inside], end_ns[inside], kinds[inside], last, above_ns)
        gaps += zip(found.large.start_ns.tolist(), found.large.end_ns.tolist(), strict=True)

    # a gap that lies across a cut is two
    whole = sweep(start_ns, end_ns, kinds, (0, 70))
    uncut = [*zip(whole.idle().start_ns.tolist(), whole.idle().end_ns.tolist(), strict=True)]
    inside_of = [
        (max(first, start), min(last, end))
        for first, last in pairwise(sorted({0, *cuts, 70}))
        for start, end in uncut
        if max(first, start) < min(last, end)
    ]
    assert running.state_times.times_ns.tolist() == whole.state_times.times_ns.tolist()
    assert gaps == [(start, end) for start, end in inside_of if end - start > above_ns]


def test_gaps_are_counted_by_size_and_large_ones_have_their_place(new_sweep: Callable[[], RunningSweep]) -> None:
    # busy for 1 ns after gaps of each size's lowest length, and of one less than the next size's
    lengths_ns = [5, *(length for bound in SIZE_BOUNDS_NS[1:] for length in (bound - 1, bound))]
    start_ns = np.cumsum(np.array(lengths_ns) + 1) - 1
    kinds = np.full(len(start_ns), int(Activity.COPY), np.uint8)

    found = new_sweep().advance(start_ns, start_ns + 1, kinds, int(start_ns[-1]), 99_999_999)

    assert found.counts.tolist() == [2, 2, 2, 2, 2, 2, 1]
    assert found.totals_ns.tolist() == [
        *(5 + 9_999, 10_000 + 99_999, 100_000 + 999_999, 1_000_000 + 9_999_999),
        *(10_000_000 + 99_999_999, 100_000_000 + 999_999_999, 1_000_000_000),
    ]
    assert found.large.durations_ns.tolist() == [100_000_000, 999_999_999, 1_000_000_000]
    assert found.large_places.tolist() == [10, 11, 12]
