"""The timeline: lanes that add up to the partition, exact activity where it is worth it, and bounds on all of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.lanes.excerpt import NEIGHBOUR_COUNT, excerpt_around
from nsysan.analysis.lanes.lane import lane_of
from nsysan.analysis.lanes.names import NO_ROOM, NameTable
from nsysan.analysis.timeline import ACTIVITIES, Timeline, TimelineLanes
from nsysan.attribution.activities import Activities
from nsysan.attribution.job import occupancy_of
from nsysan.attribution.window import WindowChoice
from nsysan.model.partition import Activity, Part, PartTimes
from nsysan.model.results import Skipped
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from nsysan.timeline.intervals import Intervals
from tests.analysis.long_traces import timeline_of_random_kernels
from tests.runs import analyze_exports, result_of
from tests.unpacking import grouped, pieces_of

if TYPE_CHECKING:
    from pathlib import Path

C = Activity.COMPUTE
NO_SPANS = Intervals(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

drawn_activities = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 20), st.sampled_from(list(Activity))), min_size=1, max_size=60
)


def activities_of(drawn: list[tuple[int, int, Activity]]) -> Activities:
    """Activities of these begins, lengths and kinds, in order."""
    ordered = sorted(drawn, key=lambda entry: (entry[0], entry[0] + entry[1]))
    starts = np.array([start for start, _, _ in ordered], dtype=np.int64)
    lengths = np.array([length for _, length, _ in ordered], dtype=np.int64)
    zeros = np.zeros(len(ordered), dtype=np.int64)
    kinds = np.array([int(kind) for _, _, kind in ordered], dtype=np.int64)
    return Activities(starts, starts + lengths, kinds.astype(np.uint8), zeros, zeros, np.arange(len(ordered)))


def timeline_of(folder: Path, *exports: Export, options: AnalyzeOptions | None = None) -> TimelineLanes:
    return result_of(analyze_exports(folder, *exports, options=options), Timeline).timeline


def test_a_short_trace_is_there_in_full(tmp_path: Path) -> None:
    export = Export().kernel(100, 300, "sgemm").kernel(250, 400, "ncclDevKernel_AllReduce_Sum(int)", stream=9)
    export.copy(430, 450, 64)

    timeline = timeline_of(tmp_path, export)

    (gpu,) = timeline.lanes
    assert (timeline.start_ns, timeline.end_ns, timeline.gpu_count, timeline.all_gpus) == (100, 450, 1, None)
    assert list(pieces_of(gpu.lane)) == [
        (100, 250, {"compute_only": 150}),
        (250, 300, {"overlapped": 50}),
        (300, 400, {"exposed_communication": 100}),
        (400, 430, {"idle": 30}),
        (430, 450, {"exposed_copy": 20}),
    ]
    assert (gpu.exact, gpu.lane.mixed_ns, gpu.shift_ns, gpu.omitted_stream_count) == (((100, 450),), 0, 0, 0)
    first, second = gpu.streams
    assert (first.stream_id, second.stream_id) == (7, 9)
    # begun since the one before, duration, name * 5 + kind: 0 compute, 1 communication, 4 copy
    assert [
        (begun, length, timeline.names[named // 5 - 1], named % 5)
        for begun, length, named in grouped(first.activities, 3)
    ] == [(100, 200, "sgemm", 0), (330, 20, "[memory copy]", 4)]
    assert [(named % 5) for _, _, named in grouped(second.activities, 3)] == [1]
    assert list(pieces_of(second.lane)) == [
        (100, 250, {"idle": 150}),
        (250, 400, {"exposed_communication": 150}),
        (400, 450, {"idle": 50}),
    ]


def test_the_lane_of_all_gpus_sums_theirs_and_says_what_lies_outside_a_window(tmp_path: Path) -> None:
    # 4,096 pieces of the axis of 8,192 ns are 2 ns each
    export = Export().kernel(0, 8192, "a").kernel(4096, 4098, "b", pid=200)

    timeline = timeline_of(tmp_path, export)

    assert timeline.all_gpus is not None
    totals: Counter[str] = Counter()
    for _, _, shares in pieces_of(timeline.all_gpus):
        totals.update(shares)
    assert totals == {"compute_only": 8194, "outside": 8190}
    assert list(pieces_of(timeline.all_gpus))[2047:2050] == [
        (4094, 4096, {"compute_only": 2, "outside": 2}),
        (4096, 4098, {"compute_only": 4}),
        (4098, 4100, {"compute_only": 2, "outside": 2}),
    ]


def test_stretches_are_even_and_add_up_to_the_job(tmp_path: Path) -> None:
    export = Export().kernel(0, 500, "a").kernel(700, 1200, "a").kernel(0, 1200, "b", pid=200)

    run = analyze_exports(tmp_path, export)

    stretches = result_of(run, Timeline).timeline.stretches
    assert [(stretch.start_ns, stretch.end_ns) for stretch in stretches] == [
        (at, at + 100) for at in range(0, 1200, 100)
    ]
    assert stretches[4].time == PartTimes(200, 0, 0, 0, 0, 0, 0)
    assert stretches[5].time == PartTimes(100, 0, 0, 0, 0, 0, 100)
    times = [gpu.time for gpu in result_of(run, GpuTime).gpus]
    for part in Part:
        assert sum(stretch.time.of(part) for stretch in stretches) == sum(time.of(part) for time in times)


def test_reports_are_put_on_the_clock_of_the_first(tmp_path: Path) -> None:
    first = Export().session(utc_epoch_ns=1_000_000_000_000, duration_ns=10_000).gpu(0, uuid="A").kernel(100, 200, "a")
    second = Export().session(utc_epoch_ns=1_000_000_000_500, duration_ns=10_000).gpu(0, uuid="B").kernel(0, 100, "a")

    timeline = timeline_of(tmp_path, first, second)

    # the second session begins 500 ns later, so that its kernel ends at 600 on the first clock
    assert (timeline.start_ns, timeline.end_ns) == (100, 600)
    assert [(lane.shift_ns, lane.lane.start_ns) for lane in timeline.lanes] == [(0, 100), (500, 0)]


def test_ranges_stand_by_depth_and_are_cut_at_the_window(tmp_path: Path) -> None:
    export = Export().kernel(100, 400, "a").nvtx(0, 300, "step").nvtx(150, 200, "forward").nvtx(160, 170, "layer")
    export.nvtx(390, None, "open")

    timeline = timeline_of(tmp_path, export)

    (thread,) = timeline.lanes[0].threads
    assert [
        (begun, length, timeline.names[name - 1], depth) for begun, length, name, depth in grouped(thread.ranges, 4)
    ] == [(0, 200, "step", 0), (50, 50, "forward", 1), (10, 10, "layer", 2), (230, 10, "open", 0)]
    assert (thread.range_count, thread.omitted_count, thread.complete_from_ns) == (4, 0, 0)


def test_ranges_with_impossible_times_are_not_drawn(tmp_path: Path) -> None:
    export = Export().kernel(100, 400, "a").nvtx(0, 300, "step").nvtx(150, 2**62, "damaged")

    (thread,) = timeline_of(tmp_path, export).lanes[0].threads

    assert thread.range_count == 1


def test_a_place_leads_to_the_longest_run_of_a_kernel(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "a").kernel(20, 50, "a").kernel(60, 90, "a").kernel(95, 99, "b", pid=200)

    places = timeline_of(tmp_path, export).kernel_places

    assert [(place.gpu, place.start_ns, place.duration_ns) for place in places] == [("gpu0", 20, 30), ("gpu1", 95, 4)]


def test_a_place_leads_to_the_longest_stretch_of_each_part(tmp_path: Path) -> None:
    # gpu0 communicates alone from 100 to 150, and from 200 to 280, where a kernel cuts it in 20 and 50; gpu1 for 40 ns
    export = Export().kernel(0, 100, "a").kernel(100, 150, "ncclDevKernel_AllReduce_Sum(int)", stream=9)
    export.kernel(200, 280, "ncclDevKernel_AllReduce_Sum(int)", stream=9).kernel(220, 230, "a")
    export.kernel(0, 40, "ncclDevKernel_AllReduce_Sum(int)", pid=200).copy(300, 310, 64).copy(60, 90, 64, pid=200)

    places = timeline_of(tmp_path, export).part_places

    assert [(place.part, place.gpu, place.start_ns, place.end_ns) for place in places] == [
        (Part.EXPOSED_COMMUNICATION, "gpu0", 100, 150),
        (Part.EXPOSED_COPY, "gpu1", 60, 90),
    ]


def test_without_gpu_work_there_is_no_timeline(tmp_path: Path) -> None:
    assert isinstance(analyze_exports(tmp_path, Export()).results.get(Timeline), Skipped)


def test_a_gpu_without_a_window_has_no_lane(tmp_path: Path) -> None:
    export = Export().kernel(0, 100, "a").kernel(400, 450, "b", pid=200)
    options = AnalyzeOptions(window=WindowChoice(from_ns=None, to_ns=200))

    assert [lane.id for lane in timeline_of(tmp_path, export, options=options).lanes] == ["gpu0"]


@given(drawn_activities, st.integers(2, 80), st.lists(st.integers(0, 320), min_size=2, max_size=6))
def test_a_lane_adds_up_and_is_exact_within_the_spans(
    drawn: list[tuple[int, int, Activity]], limit: int, bounds: list[int]
) -> None:
    pairs = sorted(set(bounds))
    spans = list(zip(pairs[::2], pairs[1::2], strict=False))
    exact = Intervals(*(np.array(column, dtype=np.int64) for column in zip(*spans, strict=True))) if spans else NO_SPANS
    occupancy = occupancy_of(activities_of(drawn), (0, 321))

    lane = lane_of(occupancy, exact, limit)

    pieces = list(pieces_of(lane))
    totals: Counter[str] = Counter()
    for _, _, shares in pieces:
        totals.update(shares)
    times = occupancy.part_times()
    assert {part.value: times.of(part) for part in Part if times.of(part)} == totals
    assert (pieces[0][0], pieces[-1][1]) == (0, 321)
    mixed = [(start, end) for start, end, shares in pieces if len(shares) > 1]
    assert lane.mixed_ns == max((end - start for start, end in mixed), default=0)
    inside = [(start, end) for start, end in mixed for low, high in spans if low <= start and end <= high]
    assert inside == []
    if not mixed:
        return
    assert len(pieces) <= limit // 2 + len(drawn) * 2 + 2


@given(drawn_activities, st.integers(0, 60), st.lists(st.tuples(st.integers(0, 300), st.integers(0, 20)), max_size=6))
def test_an_excerpt_holds_every_activity_of_its_spans_and_no_more_than_there_is_room_for(
    drawn: list[tuple[int, int, Activity]], limit: int, places: list[tuple[int, int]]
) -> None:
    activities = activities_of(drawn)
    window_ns = (0, 321)

    excerpt = excerpt_around(activities, window_ns, [(start, start + length) for start, length in places], limit)

    solid = [(start, start + length) for start, length, _ in drawn if length]
    spans = list(zip(excerpt.spans.start_ns.tolist(), excerpt.spans.end_ns.tolist(), strict=True))
    expected = [(start, end) for start, end in sorted(solid) if any(start < high and end > low for low, high in spans)]
    found = list(zip(excerpt.activities.start_ns.tolist(), excerpt.activities.end_ns.tolist(), strict=True))
    assert found == expected
    assert len(found) <= limit
    if len(solid) <= limit:
        assert spans == [window_ns]


def test_a_place_is_shown_with_its_neighbours() -> None:
    # kernels of 8 ns every 10 ns; the place is the gap before the one at 1,000
    activities = activities_of([(at, 8, C) for at in range(0, 2000, 10)])

    excerpt = excerpt_around(activities, (0, 1998), [(998, 1000)], 60)

    # from the 24th before the gap to the begin of the 24th after the one that ends it
    assert (excerpt.spans.start_ns.tolist(), excerpt.spans.end_ns.tolist()) == (
        [1000 - 10 * NEIGHBOUR_COUNT],
        [1000 + 10 * NEIGHBOUR_COUNT],
    )


def test_names_are_kept_while_there_is_room() -> None:
    names = NameTable(limit_bytes=10)

    assert [names.number(name) for name in ("abcd", "efgh", "abcd", "ijkl", "mn")] == [1, 2, 1, NO_ROOM, 3]
    assert names.names == ("abcd", "efgh", "mn")


def test_of_many_gpus_those_worth_a_look_have_a_lane(tmp_path: Path) -> None:
    # gpu0 to gpu19 compute for 1,000 - 10 * their number, but all begin at 0 and end at 2,000
    export = Export()
    for number in range(20):
        export.kernel(0, 1000 - 10 * number, "a", pid=100 + number).kernel(1999, 2000, "a", pid=100 + number)

    timeline = timeline_of(tmp_path, export)

    # 19 to 12 have the longest gaps, 0 computes most, 9 is in the middle, and 11, 10, 8, 7, 6 and 5 compute least of
    # the others
    assert [lane.id for lane in timeline.lanes] == ["gpu0", *(f"gpu{number}" for number in range(5, 20))]
    assert timeline.gpu_count == 20


@pytest.mark.parametrize("gpu_count", [1, 16])
def test_what_it_takes_does_not_grow_with_the_number_of_kernels(gpu_count: int) -> None:
    few, many = (
        len(msgspec.json.encode(timeline_of_random_kernels(gpu_count, kernel_count // gpu_count)))
        for kernel_count in (4 * ACTIVITIES, 8 * ACTIVITIES)
    )

    # with both every bound is reached; longer windows have larger numbers, which take more bytes
    assert many < 1_500_000
    assert many < 1.25 * few
