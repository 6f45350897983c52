"""What the page and the text say of collectives: waiting, transfer, who is waited for, and what is not known."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.analysis.collectives import Collectives, RankRow
from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.rank_waits import SHOWN_AWAITED, SHOWN_WAITING, AwaitedRank, RankWait, RankWaits
from nsysan.analysis.stragglers import Pattern, Stragglers
from nsysan.model.lateness import Lateness
from nsysan.model.partition import PartTimes
from nsysan.model.trace import RankSource
from nsysan.report.bandwidth_chart import bandwidth_chart
from nsysan.report.clock_words import clock_line, clock_sentences
from nsysan.report.collective_tables import SHOWN_RANKS, rank_map
from nsysan.report.formats.html import render_page
from nsysan.report.formats.text import render_text
from nsysan.report.late_ranks import why_sentence
from nsysan.report.pipeline_table import pipeline_sentence, pipeline_table
from nsysan.report.sections.collectives import SECTION, CollectivesView
from nsysan.report.wait_map import wait_map
from tests.report.gpu_times import TWO_GPUS, device, gpu, gpu_time
from tests.report.joint_work import ALL_REDUCES, COLLECTIVES, STRAGGLERS, UNRESOLVED
from tests.report.pages import Page
from tests.report.runs import REPORT, full_run, run_of
from tests.report.waits import PIPELINES, RANK_WAITS


def view_of(collectives: Collectives, stragglers: Stragglers = STRAGGLERS) -> CollectivesView:
    view = SECTION.build(run_of(TWO_GPUS, collectives, stragglers))
    assert isinstance(view, CollectivesView)
    return view


def test_the_heading_tells_waiting_and_transfer_apart_or_says_that_it_cannot() -> None:
    unknown = replace(COLLECTIVES, collectives=(UNRESOLVED,))

    assert view_of(COLLECTIVES).heading == "Ranks waited 120.000 ms for each other; the transfers took 30.000 ms"
    assert view_of(unknown).heading == ("Collectives last 50.000 ms: transfer or waiting for other ranks, unknown")


def test_sentences_name_who_is_waited_for_and_why() -> None:
    assert view_of(COLLECTIVES).sentences == (
        (
            "Rank 1 came last to 8 of the 9 collectives with a late rank; the others waited 100.000 ms for it. "
            "Slow clock: it computes 90.000 ms longer, its kernels take 1.35 times as long, all by one ratio."
        ),
        "2 ranks, numbered as the environment of each process says.",
        "Of 1 row it is not known what is waiting and what transfer; the table says why.",
        "Where a size is unknown it was not recorded, or differs: nsysan record-help --question nccl-bytes.",
    )


def test_ranks_in_turn_are_no_stragglers_and_little_is_not_mentioned() -> None:
    first = STRAGGLERS.stragglers[0]
    in_turn = Stragglers((replace(first, pattern=Pattern.ROTATING, late_frac=0.25),))
    little = Stragglers((replace(first, caused_ns=5_000_000),))
    once = Stragglers((replace(first, late_count=1, instance_count=1),))

    assert (
        view_of(COLLECTIVES, in_turn).sentences[0].startswith("No rank is late persistently: rank 1, waited for most")
    )
    assert "came last" not in view_of(COLLECTIVES, little).sentences[0]
    assert " 1 came last to the only collective with a late rank; " in view_of(COLLECTIVES, once).sentences[0]


@pytest.mark.parametrize(
    ("why", "sentence"),
    [
        (None, "nothing recorded tells why"),
        (WhyLate(Lateness.DATA_LOADING, 5e6, None), "data loading: it idles 5.000 ms longer"),
        (WhyLate(Lateness.SLOW_COMPUTE, 5e6, None), "slow compute: 5.000 ms longer"),
        (WhyLate(Lateness.MORE_WORK, 5e6, 1.6), "more work: it computes 5.000 ms longer, and has more to do"),
        (
            WhyLate(Lateness.PIPELINE_POSITION, 5e6, None),
            "its place in the pipeline: it does what the others in its stage do, and other stages wait for it",
        ),
    ],
)
def test_why_in_words(why: WhyLate | None, sentence: str) -> None:
    assert why_sentence(why) == sentence


def test_the_table_says_what_is_unknown_and_why() -> None:
    rows = [[cell.text for cell in row] for row in view_of(COLLECTIVES).tables[0].rows]

    assert rows == [
        [
            "All reduce",
            "0, 1",
            "10",
            "300.000 MB",
            "250.000 ms",
            "200.000 ms",
            "120.000 ms",
            "30.000 ms",
            "90.000 GB/s",
            "90.000 GB/s",
            "25.0 %",
            "75.0 %",
        ],
        ["Broadcast", "0, 1", "10", "unknown", "50.000 ms", "200.000 ms", *["unknown"] * 6],
    ]
    first, second = view_of(COLLECTIVES).tables[0].rows
    assert first[0].note == "nccl; communicator 0xd1373f8c6ac1ba54; BFloat16"
    assert second[0].note == "nccl; communicator 0xd1373f8c6ac1ba54; BFloat16; its root is not recorded"
    assert (first[2].note, second[2].note) == ("9 complete", "0 complete")
    assert view_of(COLLECTIVES).tables[0].note == (
        "3 more rows, shorter than these, are not shown. Ceilings: measured all_reduce of 2 ranks."
    )


def test_the_map_has_the_parts_of_each_ranks_window() -> None:
    [found] = view_of(COLLECTIVES).maps

    assert [column.label for column in found.columns] == [
        "computes",
        "waits for ranks",
        "other exposed comm.",
        "exposed copy",
        "idle",
    ]
    # of 1,000 ms: 700 computing, 90 of 150 exposed waiting, 50 copying, 100 idle
    assert [(name, [shade.text for shade in shades]) for name, shades in found.rows] == [
        ("rank 0", ["70.0 %", "9.0 %", "6.0 %", "5.0 %", "10.0 %"]),
        ("rank 1", ["60.0 %", "1.5 %", "8.5 %", "5.0 %", "25.0 %"]),
    ]
    assert [shade.level for shade in found.rows[0][1]] == [6, 1, 1, 1, 1]


def test_of_many_ranks_those_that_wait_longest_are_shown_and_one_alone_has_no_map() -> None:
    one = gpu("gpu0", PartTimes(50, 0, 0, 0, 50, 0, 0))
    devices = [device(f"d{place}", one) for place in range(40)]
    ranks = tuple(RankRow(place, f"d{place}", RankSource.MPI, place, place, 0) for place in range(40))
    many = replace(COLLECTIVES, ranks=ranks)

    found = rank_map(many, gpu_time((one,), devices), ())

    assert found is not None
    worst_first = [f"rank {place}" for place in range(39, 39 - SHOWN_RANKS, -1)]
    assert [name for name, _ in found.rows] == ["mean of all", *worst_first]
    assert found.note == "Those first that wait longest; 8 more ranks, which wait less, in run.json."
    assert rank_map(replace(many, ranks=ranks[:1]), gpu_time((one,), devices), ()) is None
    awaited = rank_map(many, gpu_time((one,), devices), STRAGGLERS.stragglers)
    assert awaited is not None
    assert awaited.note == (
        "First those that others waited for, then those that wait longest; 8 more ranks, which wait less, in run.json."
    )


def test_text_and_page_say_the_same() -> None:
    text, page = render_text(full_run()), Page(render_page(full_run()))

    assert "Ranks waited 120.000 ms for each other; the transfers took 30.000 ms." in text
    assert "Rank 1 came last to 8 of the 9 collectives with a late rank" in text
    assert "Rank 1 came last to 8 of the 9 collectives with a late rank" in page.text("collectives")


TIED = "Where all come within 20.000 µs, nobody is waited for."


def test_the_map_of_waits_has_a_row_a_rank_that_waited_and_a_column_a_rank_it_waited_for() -> None:
    found = wait_map(RANK_WAITS)

    assert found is not None
    assert [column.label for column in found.columns] == ["for rank 0", "for rank 1"]
    assert [(name, [(shade.text, shade.level) for shade in shades]) for name, shades in found.rows] == [
        ("rank 0", [("-", 0), ("100.000 ms", 9)]),
        ("rank 1", [("20.000 ms", 2), ("-", 0)]),
    ]
    assert found.note == TIED
    assert wait_map(RankWaits((), 0)) is None


def test_of_many_ranks_those_that_are_waited_for_most_are_shown_and_the_rest_is_summed() -> None:
    # rank r of 40 waits r ms for each of 13 ranks
    pairs = [RankWait(rank, other, rank * 1_000_000) for rank in range(1, 41) for other in range(41, 54)]

    awaited = tuple(AwaitedRank(rank, 40, 820_000_000) for rank in range(41, 41 + SHOWN_AWAITED))

    found = wait_map(RankWaits(tuple(pairs), rank_waits_omitted_ns=7, awaited_ranks=awaited))

    assert found is not None
    assert [column.label for column in found.columns] == [f"for rank {rank}" for rank in range(41, 53)]
    worst_first = [f"rank {rank}" for rank in range(40, 40 - SHOWN_WAITING, -1)]
    assert [name for name, _ in found.rows] == ["all ranks", *worst_first]
    assert [(shade.text, shade.level) for shade in found.rows[0][1]] == [("820.000 ms", 0)] * 12
    # ranks 1 to 8 for 13 ranks, and the others for one more
    hidden_ms = 36 * 13 + sum(range(9, 41))
    assert found.note == f"{TIED} The worst come first; other waits, {hidden_ms / 1000:.3f} s in all, are not shown."


def test_a_bubble_is_told_beside_that_of_the_schedule() -> None:
    [row] = PIPELINES.pipelines
    uneven, untold = replace(row, bubble_frac=0.3), replace(row, part_count=None, ideal_frac=None)
    waits = "The 2 stages of a pipeline wait {}.0 % of their steps for each other"

    assert [pipeline_sentence(rows) for rows in ((row,), (uneven,), (untold,), ())] == [
        f"{waits.format(20)}: 4 parts a step alone make 1 ÷ (4 + 1) = 20.0 %.",
        f"{waits.format(30)}: 4 parts a step alone make 1 ÷ (4 + 1) = 20.0 %, so stages are uneven or messages slow.",
        f"{waits.format(20)}; how many parts a step has is not told.",
        None,
    ]
    table = pipeline_table(PIPELINES)
    assert [[cell.text for cell in cells] for cells in table.rows] == [
        ["0, 1", "2", "4", "4", "20.0 %", "20.0 %", "30.000 ms", "34.000 ms"]
    ]
    assert table.note == "1 more pipeline, with smaller bubbles, are not shown."


def test_an_uneven_all_to_all_is_told_before_any_link() -> None:
    uneven = replace(ALL_REDUCES, kind="all_to_all", skew_ratio=1.5, busiest_rank=1)

    found = view_of(replace(COLLECTIVES, collectives=(uneven, ALL_REDUCES)))

    assert found.sentences[1] == (
        "All-to-alls are uneven: rank 1 moves 1.50 times the mean of the ranks. Look at how tokens are routed and "
        "experts placed before the links."
    )
    assert "rank 1 moves 1.50 times the mean" in str(found.tables[0].rows[0][0].note)
    even = replace(uneven, skew_ratio=1.05)
    assert "uneven" not in str(view_of(replace(COLLECTIVES, collectives=(even,))).sentences)


def test_a_ceiling_is_of_the_same_size_and_none_where_computing_runs_beside() -> None:
    # C29: 45 of 50 GB/s at 1 MB, whatever 1 GB reaches
    small = replace(ALL_REDUCES, bytes=1_000_000, busbw_bytes_per_s=45e9, ceiling_bytes_per_s=50e9, contended_frac=0.0)
    contended = replace(small, contended_frac=0.6)

    rows = view_of(replace(COLLECTIVES, collectives=(small, contended))).tables[0].rows

    assert [(cells[-1].text, cells[-1].note) for cells in rows] == [("90.0 %", None), ("90.0 %", "contended")]


def test_the_curve_goes_through_each_size_and_its_ceiling() -> None:
    small = replace(ALL_REDUCES, bytes=1 << 20, busbw_bytes_per_s=2e10, ceiling_bytes_per_s=4e10)
    large = replace(ALL_REDUCES, bytes=1 << 24, busbw_bytes_per_s=1e11, ceiling_bytes_per_s=2e11, contended_frac=0.5)

    chart = bandwidth_chart((large, small))

    assert chart is not None
    # from 10 to 200 GB/s in 196 of 220 pixels: log(2) / log(20) of them are 45, log(4) / log(20) 91
    assert [line.label for line in chart.grid] == ["", "20 GB/s", "50 GB/s", "100 GB/s", "200 GB/s"]
    assert [(mark.x, mark.y, mark.kind) for mark in chart.marks] == [
        ("92%", "69.35", "contended"),
        ("8%", "174.65", "free"),
    ]
    assert [(line.x1, line.x2, line.y1, line.y2, line.kind) for line in chart.lines] == [
        ("8%", "92%", "174.65", "69.35", "curve"),
        ("8%", "92%", "129.3", "24", "ceiling"),
    ]
    assert [tick.label for tick in chart.ticks] == ["1 MiB", "2 MiB", "4 MiB", "8 MiB", "16 MiB"]
    assert [key.label for key in chart.keys] == [
        "all reduce over 2 ranks, data parallel",
        "hollow: contended, beside computing",
        "ceiling: measured all_reduce of 2 ranks",
    ]


def test_one_size_and_nothing_to_hold_it_against_is_no_curve() -> None:
    alone = replace(ALL_REDUCES, ceiling_bytes_per_s=None, ceiling_source=None)

    assert bandwidth_chart((alone,)) is None
    assert bandwidth_chart((replace(alone, bytes=None),)) is None
    assert bandwidth_chart(()) is None


def test_clocks_are_told_by_how_well_ends_agree_and_whether_they_drift() -> None:
    first = replace(REPORT, clock_residual_ns=10_000, clock_drift_frac=0.0, session_start_utc_ns="1000000000")
    # its session began 30 ms later by the hosts' clocks, 37 ms by the ends of collectives
    second = replace(
        first,
        name="rank1",
        clock_offset_ns=37_000_000,
        session_start_utc_ns="1030000000",
        clock_residual_ns=12_000,
        clock_drift_frac=-2e-5,
    )
    third = replace(first, name="rank2", clock_offset_ns=-3_000_000, clock_residual_ns=None)

    assert list(clock_sentences(replace(full_run(), reports=(first, second, third)))) == [
        (
            "Times of 3 reports are moved by -3.000 ms to 37.000 ms onto one clock; their hosts' clocks would leave "
            "them 7.000 ms apart."
        ),
        (
            "On the common clock ends of one collective lie 12.000 µs from their middle at most, by the median of each "
            "report: who came first is told from 20.000 µs on."
        ),
        "The clocks of 1 report drift, that of rank1 most: by 20.000 µs a second.",
        "No collective ties 1 report to the others, so that nothing tells when its ranks came.",
    ]
    assert clock_line(replace(full_run(), reports=(first, second, third))) == (
        "Clocks agree to 12.000 µs, moved by -3.000 ms to 37.000 ms, the hosts' 7.000 ms apart, "
        "drift up to 20.000 µs a second. No collective ties 1 report to the others, so that nothing tells "
        "when its ranks came."
    )
    alike = replace(full_run(), reports=(first, replace(first, name="rank1")))
    assert next(iter(clock_sentences(alike))) == "Times of 2 reports are on one clock as they are."
    assert clock_line(replace(full_run(), reports=(first,))) == "Clocks agree to 10.000 µs."
    assert clock_line(replace(full_run(), reports=(third, third))) == (
        "No collective ties 2 reports to the others, so that nothing tells when its ranks came."
    )
    assert clock_line(replace(full_run(), reports=(third,))) is None
    assert list(clock_sentences(replace(full_run(), reports=(third,)))) == []
