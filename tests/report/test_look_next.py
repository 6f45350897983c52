"""Where to look next: the place of whatever takes most, in the text and on the page."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.analysis.lanes.places import PartPlace
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.partition import Part, PartTimes
from nsysan.model.units import NS_PER_MS
from nsysan.report.elements import Place
from nsysan.report.formats.html import render_page
from nsysan.report.formats.text import render_text
from nsysan.report.look_next import leads, look_next
from nsysan.report.prose import Phrase, plain
from nsysan.report.sections.timeline import SECTION, TimelineView
from nsysan.report.whereabouts import whereabouts
from tests.report.drawn_lanes import TIMELINE
from tests.report.gpu_times import EXPLAINED_GPUS, gpu, gpu_time
from tests.report.pages import Page
from tests.report.recorded import GAPS, KERNELS, STEPS, STEPS_OF_FIRST
from tests.report.runs import full_run, run_of

COMMUNICATION = PartPlace(Part.EXPOSED_COMMUNICATION, "gpu0", 2_150_000_000, 2_300_000_000)
COPY = PartPlace(Part.EXPOSED_COPY, "gpu1", 2_450_000_000, 2_500_000_000)
PLACED = replace(TIMELINE, timeline=replace(TIMELINE.timeline, part_places=(COMMUNICATION, COPY)))


def test_the_part_that_takes_most_comes_first() -> None:
    # of 1,000 ms: 400 communication, 100 copies, 50 idle
    mostly = gpu_time((gpu("gpu0", PartTimes(450, 0, 0, 0, 400, 100, 50)),))

    assert [(lead.what, lead.label, lead.place.gpu) for lead in leads(run_of(mostly, GAPS, KERNELS, PLACED))] == [
        ("the longest exposed communication", "Longest exposed communication", "gpu0"),
        ("the longest exposed copy", "Longest exposed copy", "gpu1"),
        ("the longest gap", "Longest gap", "gpu1"),
        (
            "the longest run of sgemm, the kernel with most time (50.0 % of all kernels')",
            "Top kernel",
            "gpu0",
        ),
    ]


def test_of_idle_time_it_is_the_gap_with_most_of_the_cause_that_dominates() -> None:
    starved = IdleCauses.of_times({Cause.LAUNCH_STARVED: 900, Cause.DATA_LOADING: 50})
    job = gpu_time((gpu("gpu0", PartTimes(50, 0, 0, 0, 0, 0, 950), causes=starved),))
    second = replace(GAPS.gaps[1], causes={"launch_starved_ns": 125_000_000})
    gaps = replace(GAPS, gaps=(GAPS.gaps[0], second))

    assert [lead.what for lead in leads(run_of(EXPLAINED_GPUS, GAPS))] == [
        "the gap that waited longest for the data loader"
    ]
    (lead,) = leads(run_of(job, gaps))
    assert (lead.what, lead.label, lead.place.start_ns) == (
        "the gap that waited longest for the host to launch work",
        "Longest wait",
        2_500_000_000,
    )


def test_where_next_to_nothing_but_compute_takes_time_it_is_a_kernel() -> None:
    busy = gpu_time((gpu("gpu0", PartTimes(985, 0, 0, 0, 10, 0, 5)),))

    assert leads(run_of(busy, GAPS, KERNELS, PLACED))[0].label == "Top kernel"


def test_the_sentence_leads_to_the_timeline_where_it_shows_the_gpu() -> None:
    job = gpu_time((gpu("gpu0", PartTimes(450, 0, 0, 0, 400, 100, 50)),))
    place = Place("part", "gpu0", 2_150_000_000, 2_300_000_000)
    second_lane = replace(PLACED, timeline=replace(PLACED.timeline, lanes=PLACED.timeline.lanes[1:]))

    assert look_next(run_of(job, PLACED)) == (
        Phrase("Look next at the longest exposed communication: "),
        Phrase("150.000 ms from 2.150000000s on gpu0", place=place),
        Phrase("."),
    )
    elsewhere = look_next(run_of(job, second_lane))
    assert elsewhere is not None
    assert [phrase.place for phrase in elsewhere] == [None] * 3
    assert plain(elsewhere).endswith("150.000 ms from 2.150000000s on gpu0.")


def test_a_kernel_is_named_by_its_function_as_far_as_a_sentence_bears_it() -> None:
    busy = gpu_time((gpu("gpu0", PartTimes(985, 0, 0, 0, 10, 0, 5)),))
    endless = replace(KERNELS.kernels[0], name=f"void ns::{'k' * 100}<float>(float*)", work_frac=None)
    named = replace(KERNELS, kernels=(endless, *KERNELS.kernels[1:]))

    (lead, *_) = leads(run_of(busy, GAPS, named, PLACED))
    assert lead.what == f"the longest run of ns::{'k' * 53}..., the kernel with most time"


@pytest.mark.parametrize(
    ("gpu_id", "start_ms", "end_ms", "told"),
    [
        # the second of five steps lasts from 2,100 to 2,140 ms
        ("gpu0", 2_110, 2_130, " (rank 0, step 2 of 5, “step 1”)"),
        ("gpu0", 2_100, 2_140, " (rank 0, step 2 of 5, “step 1”)"),
        ("gpu0", 2_110, 2_150, " (rank 0)"),
        ("gpu1", 2_110, 2_130, " (rank 1)"),
        ("gpu9", 2_110, 2_130, ""),
    ],
)
def test_a_place_has_its_rank_and_the_step_it_lies_in(gpu_id: str, start_ms: int, end_ms: int, told: str) -> None:
    place = Place("gap", gpu_id, start_ms * NS_PER_MS, end_ms * NS_PER_MS)

    assert whereabouts(full_run(), place) == told
    assert whereabouts(run_of(), place) == ""


def test_a_step_is_one_of_all_that_there_are_though_few_are_listed() -> None:
    listed = replace(STEPS, steps=replace(STEPS.steps, devices=(replace(STEPS_OF_FIRST, step_count=12_255),)))
    run = run_of(gpu_time((gpu("gpu0", PartTimes(450, 0, 0, 0, 400, 100, 50)),)), listed, PLACED)

    assert whereabouts(run, Place("gap", "gpu0", 2_110 * NS_PER_MS, 2_130 * NS_PER_MS)) == (
        " (step 2 of 12,255, “step 1”)"
    )


def test_nothing_is_led_to_where_nothing_is_known() -> None:
    assert look_next(run_of()) is None
    assert leads(run_of(EXPLAINED_GPUS)) == ()


def test_the_page_has_a_button_for_each_place_and_the_verdict_leads_to_the_first() -> None:
    view = SECTION.build(full_run())
    page = Page(render_page(full_run()))
    buttons = [attributes for tag, attributes in page.tags if tag == "button" and "data-start" in attributes]

    assert isinstance(view, TimelineView)
    assert [lead.label for lead in view.leads] == ["Longest gap", "Longest exposed communication", "Top kernel"]
    assert [(button["data-gpu"], button["data-start"], button["data-end"]) for button in buttons] == [
        ("gpu1", "2125000000", "2250000000"),
        ("gpu0", "2150000000", "2300000000"),
        ("gpu0", "2000000000", "2100000000"),
    ]
    assert "Look next at the gap that waited longest for the data loader: 125.000 ms from" in page.text("verdict")


def test_the_text_tells_the_story_of_the_gap_it_leads_to_and_of_no_other() -> None:
    communicating = gpu_time((gpu("gpu0", PartTimes(450, 0, 0, 0, 400, 100, 50)),))

    assert "In it thread 101 loaded data" in render_text(full_run())
    assert "In it" not in render_text(run_of(communicating, GAPS, PLACED))
