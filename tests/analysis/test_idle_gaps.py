"""Gaps and what stood at their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsysan.analysis.gap_sentence import GapCall, GapSpan
from nsysan.analysis.gap_story import GapStory
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_gaps import Gap, GapSizes, IdleGaps
from nsysan.attribution.gap_sums import GAPS_KEPT
from nsysan.attribution.window import WindowChoice
from nsysan.model.idle import Cause
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000
LAUNCH = "cudaLaunchKernel_v7000"


def test_gaps_are_named_by_what_ran_before_and_after(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "a").kernel(5, 8, "hidden", stream=8).copy(25, 30, 64)
    export.memset(31, 40, 64).graph(60, 70).kernel(90, 95, "b")

    run = analyze_exports(tmp_path, export, options=AnalyzeOptions(window=WindowChoice(0, 100)))

    assert result_of(run, IdleGaps).gaps == (
        Gap("gpu0", 40, 60, 20, "[memset]", "[CUDA graph]"),
        Gap("gpu0", 70, 90, 20, "[CUDA graph]", "b"),
        Gap("gpu0", 10, 25, 15, "a", "[memory copy]"),
        Gap("gpu0", 95, 100, 5, "b", None),
        Gap("gpu0", 30, 31, 1, "[memory copy]", "[memset]"),
    )


def test_sizes_count_every_gap_once_and_add_up_to_idle(tmp_path: Path) -> None:
    # C07: gaps of 5, 0.4 and 0.3 ms; one gap >= 1 ms totals 5.0, all idle is 5.7
    export = Export()
    for start_ns in (0, 6 * MS, 7_400_000, 8_700_000):
        export.kernel(start_ns, start_ns + MS, "a")

    run = analyze_exports(tmp_path, export)

    sizes = [size for size in result_of(run, IdleGaps).gap_sizes if size.count]
    assert sizes == [
        GapSizes("gpu0", 100_000, MS, 2, 700_000),
        GapSizes("gpu0", MS, 10 * MS, 1, 5 * MS),
    ]
    assert result_of(run, GpuTime).gpus[0].time.idle_ns == 5_700_000


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 4), min_size=GAPS_KEPT - 2, max_size=GAPS_KEPT + 15))
def test_the_largest_gaps_are_told_of_equal_ones_the_earliest(tmp_path: Path, gaps_ns: list[int]) -> None:
    export = Export().kernel(0, 10, "a")
    # each kernel takes 10 ns, so gap i begins after i + 1 of them and the gaps before it
    begins_ns = [10 * (place + 1) + sum(gaps_ns[:place]) for place in range(len(gaps_ns))]
    for begin_ns, gap_ns in zip(begins_ns, gaps_ns, strict=True):
        export.kernel(begin_ns + gap_ns, begin_ns + gap_ns + 10, "a")

    told = result_of(analyze_exports(tmp_path, export), IdleGaps).gaps

    by_size = sorted((-gap_ns, begin_ns) for gap_ns, begin_ns in zip(gaps_ns, begins_ns, strict=True))
    assert [(-gap.duration_ns, gap.start_ns) for gap in told] == by_size[:GAPS_KEPT]


def test_a_kernel_of_no_length_ends_no_gap(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 10, "a").kernel(20, 20, "ghost").kernel(20, 30, "real"))

    assert result_of(run, IdleGaps).gaps == (Gap("gpu0", 10, 20, 10, "a", "real"),)


def test_gaps_of_a_stream_are_no_gaps_of_the_gpu(tmp_path: Path) -> None:
    # T2: each of two streams idles half of the time, the GPU never
    export = Export()
    for start_ns in range(0, 100, 10):
        export.kernel(start_ns, start_ns + 10, "k", stream=7 + start_ns // 10 % 2)

    run = analyze_exports(tmp_path, export)

    assert result_of(run, IdleGaps).gaps == ()
    assert result_of(run, GpuTime).gpus[0].device_active_frac == 1.0


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(1, 10**6)), min_size=1, max_size=15))
def test_idle_is_one_figure_wherever_it_is_told(tmp_path: Path, drawn: list[tuple[int, int]]) -> None:
    export = Export()
    for start_ns, length_ns in drawn:
        export.kernel(start_ns, start_ns + length_ns, "k")

    run = analyze_exports(tmp_path, export)

    # T9: the part, the gaps, their sizes and the active share tell the same idle
    (gpu,) = result_of(run, GpuTime).gpus
    gaps = result_of(run, IdleGaps)
    assert sum(gap.duration_ns for gap in gaps.gaps) == gpu.time.idle_ns
    assert sum(size.total_ns for size in gaps.gap_sizes) == gpu.time.idle_ns
    assert sum(size.count for size in gaps.gap_sizes) == gpu.idle_gap_count == len(gaps.gaps)
    assert gpu.device_active_frac == (gpu.time.window_ns - gpu.time.idle_ns) / gpu.time.window_ns


def test_back_to_back_kernels_leave_no_gap(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 10, "a").kernel(10, 20, "b").kernel(15, 15, "c"))

    assert result_of(run, IdleGaps).gaps == ()


def test_the_largest_gaps_are_told_as_a_story(tmp_path: Path) -> None:
    export = Export().call(0, 5_000, LAUNCH, correlation=1).kernel(10_000, 100_000, "before", correlation=1)
    export.call(1_090_000, 1_100_000, LAUNCH, tid=7, correlation=2).kernel(1_101_000, 1_200_000, "after", correlation=2)
    export.nvtx(150_000, 350_000, "load_batch").nvtx(1_000_000, 1_300_000, "step 1", tid=7)
    export.nvtx(1_080_000, 1_290_000, "forward", tid=7).nvtx(400_000, None, "epoch done", event_type=34)
    export.nvtx(400_001, None, "of another process", event_type=34, pid=9)

    (gap,) = result_of(analyze_exports(tmp_path, export), IdleGaps).gaps

    assert gap.causes == {"data_loading_ns": 200_000, "launch_starved_ns": 790_000, "launch_latency_ns": 11_000}
    assert gap.story == GapStory(
        sentence="Thread 100 launched nothing for 790.000 µs (why is not recorded); "
        "then cudaLaunchKernel started after.",
        call=GapCall(LAUNCH, 1_090_000, 1_100_000, 7),
        spans=(
            GapSpan(100_000, 150_000, Cause.LAUNCH_STARVED, 100, None, 0),
            GapSpan(150_000, 350_000, Cause.DATA_LOADING, 100, "load_batch", 200_000),
            GapSpan(350_000, 1_000_000, Cause.LAUNCH_STARVED, 100, None, 0),
            GapSpan(1_000_000, 1_090_000, Cause.LAUNCH_STARVED, 7, "step 1", 90_000),
            GapSpan(1_090_000, 1_101_000, Cause.LAUNCH_LATENCY, 7, LAUNCH, 10_000),
        ),
        ranges=("step 1", "forward"),
        marks=("epoch done",),
        ran_before=("before",),
        ran_after=("after",),
    )


def test_ranges_and_marks_of_a_story_come_with_what_they_bear(tmp_path: Path) -> None:
    export = Export().call(0, 5, LAUNCH, correlation=1).kernel(10, 100, "before", correlation=1)
    export.call(1_090, 1_100, LAUNCH, correlation=2).kernel(1_101, 1_200, "after", correlation=2)
    # a range whose times cannot be comes first: the details of the others keep to their ranges
    export.nvtx(50, 10, "damaged").nvtx_range(0, 1, "free", category=1)
    export.nvtx(1_000, 1_300, "step 1").nvtx(1_010, 1_200, "load")
    export.nvtx_mark(500, "epoch", category=4).nvtx_category(4, "progress")
    export.sql("UPDATE NVTX_EVENTS SET uint64Value = 12, category = 1 WHERE text = 'step 1'")
    export.sql("""UPDATE NVTX_EVENTS SET jsonText = '{"batch": 3}' WHERE text = 'load'""")
    export.sql("UPDATE NVTX_EVENTS SET int32Value = 7 WHERE text = 'epoch'")
    export.nvtx_mark(600, "loss").sql("UPDATE NVTX_EVENTS SET floatValue = 0.1 WHERE text = 'loss'")
    export.nvtx_mark(700, "hash").sql("UPDATE NVTX_EVENTS SET uint64Value = -1 WHERE text = 'hash'")

    (gap,) = result_of(analyze_exports(tmp_path, export), IdleGaps).gaps

    assert gap.story is not None
    assert gap.story.ranges == ("step 1 (category 1, payload 12)", 'load ({"batch": 3})')
    assert gap.story.marks == (
        "epoch (category progress, payload 7)",
        "loss (payload 0.1)",
        # SQLite has no numbers from 2^63 on, and holds this as -1
        "hash (payload 18446744073709551615)",
    )


def test_ten_stories_are_told_and_every_gap_has_its_causes(tmp_path: Path) -> None:
    export = Export()
    for place in range(13):
        export.call(place * 100, place * 100 + 1, LAUNCH, correlation=place + 1)
        export.kernel(place * 100 + 2, place * 100 + 50 - place, "k", correlation=place + 1)

    gaps = result_of(analyze_exports(tmp_path, export), IdleGaps).gaps

    assert [gap.story is not None for gap in gaps] == [True] * 10 + [False] * 2
    assert all(sum((gap.causes or {}).values()) == gap.duration_ns for gap in gaps)
