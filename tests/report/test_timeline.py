"""The timeline's section: what it concludes, the picture's data, its table, and the places that tables lead to."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.timeline import Stretch, Timeline
from nsysan.model.packing import pack
from nsysan.model.partition import PartTimes
from nsysan.model.results import Skipped
from nsysan.report.causes import explained_gpus, present_causes
from nsysan.report.elements import Place
from nsysan.report.formats.html import render_page
from nsysan.report.sections.gaps import SECTION as GAPS_SECTION
from nsysan.report.sections.gaps import GapsView
from nsysan.report.sections.kernels import SECTION as KERNELS_SECTION
from nsysan.report.sections.kernels import KernelsView
from nsysan.report.sections.timeline import SECTION, TimelineView
from tests.analysis.long_traces import results_of_random_kernels
from tests.report.drawn_lanes import TIMELINE
from tests.report.gpu_times import TWO_GPUS
from tests.report.pages import Page
from tests.report.recorded import GAPS, KERNELS
from tests.report.runs import full_run, run_of

LOWS = ((0, 0), (100, 50), (200, 0))
"""When stretches begin, and how much of their 100 ns is computed."""


def view_of(timeline: Timeline) -> TimelineView:
    view = SECTION.build(run_of(timeline))
    assert isinstance(view, TimelineView)
    return view


def test_the_heading_says_when_least_is_computed() -> None:
    # 450 and 850 of 1,000 ms
    assert view_of(TIMELINE).heading == (
        "Computing takes 45.0 to 85.0 % of each 500.000 ms, least in the one from 2.000000000s on"
    )


def test_stretches_that_compute_equally_little_are_counted() -> None:
    stretches = tuple(Stretch(at, at + 100, PartTimes(work, 0, 0, 0, 0, 0, 100 - work)) for at, work in LOWS)
    uneven = replace(TIMELINE, timeline=replace(TIMELINE.timeline, stretches=stretches))

    assert view_of(uneven).heading == "Computing takes 0.0 to 50.0 % of each 100 ns, least in 2 of 3"


def test_stretches_in_which_nothing_was_recorded_are_not_spoken_for() -> None:
    empty, full = Stretch(0, 100, PartTimes(0, 0, 0, 0, 0, 0, 0)), Stretch(100, 200, PartTimes(99, 0, 0, 0, 0, 0, 1))
    apart = replace(TIMELINE, timeline=replace(TIMELINE.timeline, stretches=(empty, full)))

    assert view_of(apart).heading == "Computing takes 99.0 % of each 100 ns that a window reaches into"


def test_where_stretches_are_alike_none_is_named() -> None:
    stretches = (Stretch(0, 100, PartTimes(96, 0, 0, 0, 0, 0, 4)), Stretch(100, 200, PartTimes(99, 0, 0, 0, 0, 0, 1)))
    even = replace(TIMELINE, timeline=replace(TIMELINE.timeline, stretches=stretches))

    assert view_of(even).heading == "Computing takes 96.0 to 99.0 % of each 100 ns"


def test_what_graphs_may_have_computed_is_counted_and_said() -> None:
    stretch = Stretch(0, 100, PartTimes(6, 0, 0, 93, 0, 0, 1))
    graphs = replace(TIMELINE, timeline=replace(TIMELINE.timeline, stretches=(stretch,)))
    unseen = replace(TWO_GPUS, job=replace(TWO_GPUS.job, unseen_graph_launch_count=3))
    view = SECTION.build(run_of(unseen, TIMELINE))

    assert view_of(graphs).heading == "Computing or an opaque graph takes 99.0 % of each 100 ns"
    assert view is not None
    assert view.heading.startswith("Recorded computing takes 45.0 to 85.0 %")


def test_the_table_tells_the_picture_in_shares() -> None:
    table = view_of(TIMELINE).table

    assert [[cell.text for cell in row] for row in table.rows] == [
        ["2.000000000s", "500.000 ms", "35.0 %", "10.0 %", "0.0 %", "0.0 %", "25.0 %", "5.0 %", "25.0 %"],
        ["2.500000000s", "500.000 ms", "75.0 %", "10.0 %", "0.0 %", "0.0 %", "0.0 %", "5.0 %", "10.0 %"],
    ]


def test_the_picture_gets_the_lanes_and_names_and_not_what_the_table_shows() -> None:
    data = json.loads(view_of(TIMELINE).data)

    assert [lane["id"] for lane in data["lanes"]] == ["gpu0", "gpu1"]
    assert data["lanes"][0]["lane"]["pieces"] == TIMELINE.timeline.lanes[0].lane.pieces
    assert data["names"] == list(TIMELINE.timeline.names)
    assert (data["stretches"], data["kernel_places"]) == ([], [])


def test_it_is_said_which_of_many_gpus_have_a_lane() -> None:
    many = replace(TIMELINE, timeline=replace(TIMELINE.timeline, gpu_count=1024))

    choice, *_ = view_of(many).left_out
    assert choice.startswith("2 of 1,024 GPUs have a lane: those between which the longest waits")


def test_it_is_said_how_many_ranges_are_not_drawn() -> None:
    first, *others = TIMELINE.timeline.lanes
    (thread,) = first.threads
    whole = replace(first, threads=(replace(thread, omitted_count=0, complete_from_ns=0),))
    complete = replace(TIMELINE, timeline=replace(TIMELINE.timeline, lanes=(whole, *others)))

    (sentence,) = view_of(TIMELINE).left_out
    assert sentence.startswith("3 ranges of threads, none longer than 5.000 ms, are not drawn:")
    bundled = replace(first, threads=(replace(thread, bundle_count=1, bundles=pack(np.array([0, 9, 3, 1]))),))
    (sentence,) = view_of(replace(TIMELINE, timeline=replace(TIMELINE.timeline, lanes=(bundled, *others)))).left_out
    assert sentence.startswith("3 ranges of threads, none longer than 5.000 ms, are drawn together:")
    assert view_of(complete).left_out == ()


def test_gaps_and_kernels_lead_to_their_place_where_their_gpu_has_a_lane() -> None:
    lanes = TIMELINE.timeline.lanes
    only_first = replace(TIMELINE, timeline=replace(TIMELINE.timeline, lanes=lanes[:1]))
    gaps = GAPS_SECTION.build(run_of(GAPS, only_first))
    kernels = KERNELS_SECTION.build(run_of(KERNELS, only_first))
    assert isinstance(gaps, GapsView)
    assert isinstance(kernels, KernelsView)
    assert kernels.names is not None

    assert [row[0].place for row in gaps.tables[1].rows] == [
        None,
        None,
        Place("gap", "gpu0", 2_100_000_000, 2_150_000_000),
        Place("gap", "gpu0", 2_300_000_000, 2_325_000_000),
        Place("gap", "gpu0", 2_600_000_000, 2_625_000_000),
    ]
    assert kernels.names.rows[0][0].place == Place("kernel", "gpu0", 2_000_000_000, 2_100_000_000)


def test_without_a_timeline_nothing_leads_there() -> None:
    page = Page(render_page(run_of(GAPS, KERNELS)))

    assert [attributes for tag, attributes in page.tags if attributes.get("class") == "place"] == []


def test_without_the_script_the_picture_is_hidden_and_its_table_is_there() -> None:
    page = Page(render_page(full_run()))
    figure = next(attributes for tag, attributes in page.tags if attributes.get("class") == "timeline")

    assert "hidden" in figure
    assert len(page.rows("stretches")) == 3


@pytest.mark.parametrize(
    ("gpu_count", "kernels_per_gpu", "limit_bytes"), [(16, 12_000, 2_000_000), (1_024, 100, 6_000_000)]
)
def test_a_page_with_everything_stays_small(gpu_count: int, kernels_per_gpu: int, limit_bytes: int) -> None:
    """Trap T23: a page does not grow with the kernels."""
    results = results_of_random_kernels(gpu_count, kernels_per_gpu)

    gpu_time = results.get(GpuTime)
    assert not isinstance(gpu_time, Skipped)
    assert len(gpu_time.gpus) == gpu_count
    assert len(present_causes([causes for _, causes in explained_gpus(gpu_time.gpus)])) >= 5
    assert len(render_page(run_of(*results.found())).encode()) < limit_bytes
