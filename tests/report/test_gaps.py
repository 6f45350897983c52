"""The idle gaps: by size over all GPUs, and the largest with what ran around them."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.idle_gaps import Gap, GapSizes, IdleGaps
from nsysan.report.causes import most_awaited
from nsysan.report.elements import Cell, Place, Segment
from nsysan.report.sections.gaps import SECTION, GapsView, SizeClass, size_classes
from nsysan.report.stories import story_view
from tests.report.drawn_lanes import TIMELINE
from tests.report.recorded import GAPS, STORY
from tests.report.runs import run_of


def view_of(gaps: IdleGaps) -> GapsView:
    view = SECTION.build(run_of(gaps))
    assert isinstance(view, GapsView)
    return view


def test_sizes_are_summed_over_the_gpus() -> None:
    assert size_classes(GAPS.gap_sizes) == (
        SizeClass(10_000_000, 100_000_000, 3, 100_000_000),
        SizeClass(100_000_000, None, 2, 250_000_000),
    )


def test_the_heading_names_the_size_that_holds_most_of_the_idle_time() -> None:
    # 250 of 350 ms; count and share are of the same gaps
    assert view_of(GAPS).heading == "2 gaps of at least 100 ms hold 71.4 % of the idle time"
    assert view_of(GAPS).context == "5 gaps in all, which add up to the idle time."


def test_the_heading_of_a_single_gap() -> None:
    gaps = replace(GAPS, gap_sizes=(GapSizes("gpu0", 10_000_000, 100_000_000, 1, 90_000_000),))

    assert view_of(gaps).heading == "1 gap of 10 ms to 100 ms holds 100.0 % of the idle time"


def test_the_size_table_adds_up() -> None:
    sizes = view_of(GAPS).tables[0]

    assert [[cell.text for cell in row] for row in (*sizes.rows, *sizes.footers)] == [
        ["10 ms to 100 ms", "", "3", "100.000 ms", "28.6 %"],
        ["at least 100 ms", "", "2", "250.000 ms", "71.4 %"],
        ["all gaps", "", "5", "350.000 ms", "100.0 %"],
    ]


def test_the_largest_gaps_come_first_and_the_window_s_edges_are_named() -> None:
    table = view_of(GAPS).tables[1]

    assert [row[0].text for row in table.rows] == [
        "2.125000000s",
        "2.500000000s",
        "2.100000000s",
        "2.300000000s",
        "2.600000000s",
    ]
    assert table.rows[2][5:] == (Cell("begin of the window", style="faint"), Cell("sgemm", style="name"))
    assert table.rows[4][5:] == (Cell("sgemm", style="name"), Cell("end of the window", style="faint"))
    assert table.caption == "Every gap"


def test_bars_are_in_proportion_to_the_longest_gap_and_of_its_causes_where_they_are_known() -> None:
    bars = [row[2].bar for row in view_of(GAPS).tables[1].rows]

    assert [bar.segments for bar in bars if bar is not None] == [
        (Segment("0%", "80%", "data_loading"), Segment("80%", "20%", "launch_starved")),
        (Segment("0%", "100%", "idle"),),
        (Segment("0%", "40%", "idle"),),
        (Segment("0%", "20%", "idle"),),
        (Segment("0%", "20%", "idle"),),
    ]


def test_twenty_gaps_are_shown_and_it_is_said_of_how_many() -> None:
    many = tuple(Gap("gpu0", start, start + 10, 10, None, None) for start in range(0, 500, 20))
    table = view_of(IdleGaps(many, (GapSizes("gpu0", 0, 10_000, 2_365, 23_650),))).tables[1]

    assert len(table.rows) == 20
    assert table.caption == "The 20 largest of 2,365 gaps"


def test_a_gap_says_what_it_waited_for_longest() -> None:
    cells = [row[4] for row in view_of(GAPS).tables[1].rows]

    assert cells[:2] == [Cell("the data loader", fill="data_loading"), Cell("not recorded", style="faint")]
    assert most_awaited({}) == Cell("nothing", style="faint")


def test_the_story_of_a_gap_is_told_stretch_by_stretch() -> None:
    (story,) = view_of(GAPS).stories

    assert (story.amount, story.unit, story.gpu, story.where.text) == ("125.000", "ms", "gpu1", "2.125000000s")
    assert story.where.place is None
    assert story.bar.segments == (Segment("0%", "80%", "data_loading"), Segment("80%", "20%", "launch_starved"))
    assert [(span.cause, span.lasts, span.begins, span.thread, span.doing) for span in story.spans] == [
        ("data loading", "100.000 ms", "its begin on", "thread 101", "next(loader)"),
        ("launch starved", "25.000 ms", "100.000 ms on", None, None),
    ]
    assert (story.call, story.called) == (
        "cudaLaunchKernel",
        "on thread 101, called 123.000 ms into the gap, lasts 1.000 ms",
    )


def test_a_call_may_have_begun_before_its_gap_or_be_unknown() -> None:
    assert STORY.call is not None
    early = replace(STORY, call=replace(STORY.call, start_ns=2_124_000_000))
    told = [story_view(GAPS.gaps[0], story, None) for story in (early, replace(STORY, call=None))]

    assert [(story.call, story.called) for story in told] == [
        ("cudaLaunchKernel", "on thread 101, called 1.000 ms before it, lasts 125.000 ms"),
        (None, None),
    ]


def test_a_story_leads_to_its_gap_in_the_timeline() -> None:
    view = SECTION.build(run_of(GAPS, TIMELINE))

    assert isinstance(view, GapsView)
    assert view.stories[0].where.place == Place("gap", "gpu1", 2_125_000_000, 2_250_000_000)


def test_a_gpu_without_gaps_is_no_gap_of_zero() -> None:
    view = view_of(IdleGaps((), ()))

    assert (view.heading, view.tables) == ("No GPU was idle within its window", ())


def test_bounds_are_written_as_people_say_them() -> None:
    bounds: list[tuple[int, int | None]] = [(0, 10_000), (10_000, 100_000), (1_000_000_000, None)]

    assert [SizeClass(*bound, 0, 0).label for bound in bounds] == ["under 10 µs", "10 µs to 100 µs", "at least 1 s"]
