"""Idle time by cause over time: sums that agree with a count of single nanoseconds, and with the causes of the GPU."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.analysis.lanes.lane import lane_of, lane_over
from nsysan.analysis.lanes.waits import CAUSES_LAST_FIRST, cause_coverage, cause_edges
from nsysan.analysis.timeline import Timeline
from nsysan.attribution.idle.codes import CAUSES
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.model.idle import Cause
from nsysan.model.partition import Activity
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.occupancy import Occupancy, sweep
from tests.attribution.idle_traces import US, Trace
from tests.runs import analyze_exports, result_of
from tests.unpacking import pieces_of

if TYPE_CHECKING:
    from pathlib import Path

WINDOW_NS = (10, 110)

drawn_busy = st.lists(st.tuples(st.integers(10, 110), st.integers(1, 20)), max_size=8)
drawn_causes = st.lists(
    st.sampled_from([Cause.DATA_LOADING, Cause.HANDOVER, Cause.UNKNOWN]), min_size=100, max_size=100
)


def occupancy_of_busy(busy: list[tuple[int, int]]) -> Occupancy:
    starts = np.array([start for start, _ in busy], np.int64)
    lengths = np.array([length for _, length in busy], np.int64)
    return sweep(starts, starts + lengths, np.full(len(busy), int(Activity.COMPUTE), np.uint8), WINDOW_NS)


def idle_by_ns(occupancy: Occupancy, causes: list[Cause]) -> dict[int, Cause]:
    """Of each idle nanosecond of the window its cause."""
    idle = occupancy.idle()
    spans = zip(idle.start_ns.tolist(), idle.end_ns.tolist(), strict=True)
    return {moment: causes[moment - WINDOW_NS[0]] for start, end in spans for moment in range(start, end)}


def pieces_by_ns(of_moment: dict[int, Cause]) -> IdlePieces:
    """Pieces of one nanosecond each: they need not be as long as they could."""
    moments = np.array(sorted(of_moment), np.int64)
    codes = np.array([CAUSES.index(of_moment[moment]) for moment in sorted(of_moment)], np.int64)
    nothing = np.zeros(len(moments), np.int64)
    return IdlePieces(moments, moments + 1, codes, nothing)


@settings(deadline=None)
@given(drawn_busy, drawn_causes, st.sets(st.integers(0, 120), min_size=2))
def test_the_causes_between_two_moments_are_those_of_their_nanoseconds(
    busy: list[tuple[int, int]], causes: list[Cause], edges: set[int]
) -> None:
    of_moment = idle_by_ns(occupancy_of_busy(busy), causes)
    ordered = sorted(edges)

    found = cause_coverage(pieces_by_ns(of_moment), np.array(ordered, np.int64))

    counts = [Counter(of_moment.get(moment) for moment in range(*pair)) for pair in pairwise(ordered)]
    assert found.tolist() == [[count[cause] for cause in CAUSES_LAST_FIRST] for count in counts]


@settings(deadline=None)
@given(drawn_busy, drawn_causes, st.integers(2, 60))
def test_a_lane_holds_each_cause_and_no_idle_time_besides(
    busy: list[tuple[int, int]], causes: list[Cause], limit: int
) -> None:
    occupancy = occupancy_of_busy(busy)
    of_moment = idle_by_ns(occupancy, causes)
    exact = Intervals(np.array([40], np.int64), np.array([60], np.int64))

    pieces = list(pieces_of(lane_of(occupancy, exact, limit, pieces_by_ns(of_moment))))

    total: Counter[str] = Counter()
    for start_ns, end_ns, shares in pieces:
        total.update(shares)
        idle = Counter(of_moment[moment].value for moment in range(start_ns, end_ns) if moment in of_moment)
        assert {column: time for column, time in shares.items() if column != "compute_only"} == idle
        assert len(shares) == 1 or start_ns < 40 or end_ns > 60
    assert total["idle"] == 0
    assert total.total() == WINDOW_NS[1] - WINDOW_NS[0]


def test_neighbouring_pieces_of_one_cause_have_no_edge_between_them() -> None:
    of_moment = {20: Cause.HANDOVER, 21: Cause.HANDOVER, 22: Cause.UNKNOWN, 30: Cause.HANDOVER}

    assert cause_edges(pieces_by_ns(of_moment)).tolist() == [22]


def test_a_lane_over_gpus_has_the_causes_of_those_that_know_them() -> None:
    occupancy = occupancy_of_busy([(10, 40)])
    known = pieces_by_ns(dict.fromkeys(range(50, 110), Cause.DATA_LOADING))

    (piece,) = pieces_of(lane_over([occupancy, occupancy], [known], np.array(WINDOW_NS, np.int64)))

    assert piece == (10, 110, {"compute_only": 80, "idle": 60, "data_loading": 60})


def test_a_gap_of_a_trace_hangs_in_the_lane_by_its_causes(tmp_path: Path) -> None:
    # from 100 us on the thread does nothing known for 90, is 10 in the call, and the kernel begins 5 us after it
    trace = Trace().launch(190, 200, runs=(205, 300))

    (gpu,) = result_of(analyze_exports(tmp_path, trace), Timeline).timeline.lanes

    assert list(pieces_of(gpu.lane)) == [
        (10 * US, 100 * US, {"compute_only": 90 * US}),
        (100 * US, 190 * US, {"launch_starved": 90 * US}),
        (190 * US, 205 * US, {"launch_latency": 15 * US}),
        (205 * US, 300 * US, {"compute_only": 95 * US}),
    ]
