"""What the page and the text say of collectives: waiting, transfer, who is waited for, and what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nsysan.analysis.collectives import Collectives, RankRow
from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.stragglers import Pattern, Stragglers
from nsysan.model.partition import PartTimes
from nsysan.model.trace import RankSource
from nsysan.report.collective_tables import SHOWN_RANKS, rank_map, why_sentence
from nsysan.report.formats.html import render_page
from nsysan.report.formats.text import render_text
from nsysan.report.sections.collectives import SECTION, CollectivesView
from tests.report.pages import Page
from tests.report.runs import (
    COLLECTIVES,
    STRAGGLERS,
    TWO_GPUS,
    UNRESOLVED,
    device,
    full_run,
    gpu,
    gpu_time,
    run_of,
)


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
            "Rank 1 came last to 8 of 9 collectives; the others waited 100.000 ms for it. Slow clock: it computes "
            "90.000 ms longer, its kernels take 1.35 times as long, all by one ratio."
        ),
        "2 ranks, numbered as the environment of each process says.",
        "Of 1 row it is not known what is waiting and what transfer; the table says why.",
        "Where a size is unknown it was not recorded, or differs: nsysan record-help --question nccl-bytes.",
    )


def test_ranks_in_turn_are_no_stragglers_and_little_is_not_mentioned() -> None:
    first = STRAGGLERS.stragglers[0]
    in_turn = Stragglers((replace(first, pattern=Pattern.ROTATING, late_frac=0.25),))
    little = Stragglers((replace(first, caused_ns=5_000_000),))

    assert (
        view_of(COLLECTIVES, in_turn).sentences[0].startswith("No rank is late persistently: rank 1, waited for most")
    )
    assert "came last" not in view_of(COLLECTIVES, little).sentences[0]


@pytest.mark.parametrize(
    ("why", "sentence"),
    [
        (None, "nothing recorded tells why"),
        (WhyLate("data_loading", 5e6, None), "data loading: it idles 5.000 ms longer"),
        (WhyLate("slow_compute", 5e6, None), "slow compute: 5.000 ms longer"),
        (WhyLate("more_work", 5e6, 1.6), "more work: it computes 5.000 ms longer, and has more to do"),
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
        ],
        ["Broadcast", "0, 1", "10", "unknown", "50.000 ms", "200.000 ms", *["unknown"] * 5],
    ]
    first, second = view_of(COLLECTIVES).tables[0].rows
    assert first[0].note == "nccl; communicator 0xd1373f8c6ac1ba54; BFloat16"
    assert second[0].note == "nccl; communicator 0xd1373f8c6ac1ba54; BFloat16; its root is not recorded"
    assert (first[2].note, second[2].note) == ("9 complete", "0 complete")
    assert view_of(COLLECTIVES).tables[0].note == "3 more rows, shorter than these, are not shown."


def test_the_map_has_the_parts_of_each_ranks_window() -> None:
    found = view_of(COLLECTIVES).rank_map

    assert found is not None
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
    assert [name for name, _ in found.rows] == [f"rank {place}" for place in range(40 - SHOWN_RANKS, 40)]
    assert found.note == "8 more ranks in run.json, which wait less than these."
    assert rank_map(replace(many, ranks=ranks[:1]), gpu_time((one,), devices), ()) is None


def test_text_and_page_say_the_same() -> None:
    text, page = render_text(full_run()), Page(render_page(full_run()))

    assert "Ranks waited 120.000 ms for each other; the transfers took 30.000 ms." in text
    assert "Rank 1 came last to 8 of 9 collectives" in text
    assert "Rank 1 came last to 8 of 9 collectives" in page.text("collectives")
