"""The timeline in Chromium: the lane of all GPUs, what keys and links lead to, steps, and what lights up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.report.fills import LIGHTS, PAINTS
from tests.browser.test_timeline_in_browser import (
    ALL_Y,
    APPROXIMATE,
    GPU0_Y,
    MARGIN,
    PIXEL,
    PLOT,
    STEPS_Y,
    STREAM_Y,
    Picture,
)
from tests.report.drawn_lanes import TIMELINE
from tests.report.runs import RESULTS, full_run, run_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

FOCUSED = "document.activeElement.className"
NOTE = ".timeline-note b"


@pytest.fixture
def picture(open_page: OpenPage) -> Picture:
    return Picture(open_page(full_run()).page)


def test_the_lane_of_all_gpus_is_the_sum_of_theirs_and_as_exact(picture: Picture) -> None:
    picture.page.mouse.click(*picture.point(0.5, ALL_Y))

    # 500 ms of computing of gpu1 and 600 of gpu0, and so on
    assert picture.figures == {
        "compute only": "55.0 %, 1.100 s",
        "overlapped": "10.0 %, 200.000 ms",
        "exposed communication": "12.5 %, 250.000 ms",
        "exposed copy": "5.0 %, 100.000 ms",
        "idle": "17.5 %, 350.000 ms",
    }
    # up to 325 ms both lanes hold one part at a time: of 2 times 250 ms idle are 50 of gpu0 and 125 of gpu1
    picture.drag(0, 0.25, 4)
    assert picture.reading == "Selected: 250.000 ms from 2.000000000s, summed over all 2 GPUs, exact"
    assert picture.figures == {
        "compute only": "45.0 %, 225.000 ms",
        "exposed communication": "20.0 %, 100.000 ms",
        "idle": "35.0 %, 175.000 ms",
    }
    picture.drag(0.25, 0.5, 4)
    assert picture.reading.endswith("approximate: in pieces of up to 275.000 ms, each shared out evenly")


def test_where_not_every_gpu_has_a_lane_that_of_all_is_called_approximate(open_page: OpenPage) -> None:
    three = replace(TIMELINE, timeline=replace(TIMELINE.timeline, gpu_count=3))
    picture = Picture(open_page(run_of(*RESULTS[:-1], three)).page)
    picture.page.mouse.click(*picture.point(0.5, ALL_Y))

    approximate = APPROXIMATE.replace("275", "500")
    assert picture.reading == f"In view: 1.000 s from 2.000000000s, summed over all 3 GPUs, {approximate}"
    assert "approximate within its even pieces" in picture.page.locator("#timeline").inner_text()


def test_from_all_gpus_keys_lead_to_the_gpu_that_has_the_gap_or_kernel(picture: Picture) -> None:
    picture.press("ArrowUp", "]")
    assert picture.reading == "Selected: 50.000 ms from 2.100000000s, gpu0, exact"
    picture.press("ArrowUp", "]")
    assert picture.reading == "Selected: 125.000 ms from 2.125000000s, gpu1, exact"
    picture.press("ArrowUp", "ArrowUp", "Escape", "0", ".")
    assert picture.reading.startswith("Selected: 50.000 ms from 2.450000000s, gpu0")


def test_where_a_key_finds_nothing_it_says_so(picture: Picture) -> None:
    picture.press("[")
    assert picture.page.locator(NOTE).inner_text() == "There is no earlier gap in the table on gpu0."
    picture.press("End", ".", ".")
    assert picture.page.locator(NOTE).inner_text() == "There is no later kernel shown by itself on gpu0."
    picture.press("ArrowUp", "Escape", "0", ",")
    assert picture.page.locator(NOTE).inner_text() == "There is no earlier kernel shown by itself on any GPU."


def test_the_note_of_a_stepped_kernel_lies_at_it_also_at_the_windows_edge(picture: Picture) -> None:
    picture.press("End", "Shift+ArrowRight", ",", ",")
    # the first 100 ms: the view begins with the window, and so does the kernel
    assert picture.reading.startswith("Selected: 100.000 ms from 2.000000000s")
    note, canvas = picture.page.locator(".timeline-note").bounding_box(), picture.canvas.bounding_box()
    assert note is not None
    assert canvas is not None
    assert canvas["x"] + MARGIN <= note["x"] <= canvas["x"] + MARGIN + 20
    assert canvas["y"] + STREAM_Y - 7 <= note["y"] <= canvas["y"] + STREAM_Y + 20


def test_a_link_brings_the_focus_into_the_picture_and_going_back_returns_it(picture: Picture) -> None:
    page = picture.page
    link = page.locator("#largest-gaps a.place").first
    link.focus()
    page.keyboard.press("Enter")

    assert page.evaluate(FOCUSED) == "timeline-lanes"
    assert picture.canvas.evaluate("canvas => canvas.getBoundingClientRect().top < innerHeight")
    page.keyboard.press("]")
    assert picture.reading.startswith("Selected: 125.000 ms from 2.500000000s, gpu1")
    page.go_back()
    page.wait_for_function("document.activeElement.className === 'place'")
    assert link.evaluate("link => link === document.activeElement")


def test_numbers_and_buttons_lead_to_what_dominates_first(picture: Picture) -> None:
    picture.press("1")
    assert picture.reading.startswith("Selected: 125.000 ms from 2.125000000s, gpu1")
    picture.press("2")
    assert picture.reading.startswith("Selected: 150.000 ms from 2.150000000s, gpu0")
    picture.page.get_by_role("button", name="Top kernel").click()
    assert picture.reading.startswith("Selected: 100.000 ms from 2.000000000s, gpu0")
    picture.page.locator("#verdict a.place").click()
    assert picture.reading.startswith("Selected: 125.000 ms from 2.125000000s, gpu1")


def test_steps_stand_under_the_ruler_and_a_click_selects_one(picture: Picture) -> None:
    assert picture.hover(0.22, STEPS_Y) == "3: step 2\n2.200000000s, 100.000 ms"
    picture.page.mouse.click(*picture.point(0.22, STEPS_Y))

    assert picture.reading.startswith("Selected: 100.000 ms from 2.200000000s, gpu0")


def test_a_column_of_the_step_chart_leads_to_its_step_by_mouse_and_keyboard(picture: Picture) -> None:
    page = picture.page
    page.locator("#steps .columns a").nth(2).click()
    assert picture.reading.startswith("Selected: 100.000 ms from 2.200000000s, gpu0")

    page.locator("#steps .columns a").nth(2).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text() == "step 4, 40.000 ms"
    page.keyboard.press("Enter")
    assert picture.reading == f"Selected: 40.000 ms from 2.300000000s, gpu0, {APPROXIMATE}"


def test_the_name_of_a_part_lights_it_in_every_chart(picture: Picture) -> None:
    page = picture.page
    compute, communication = [MARGIN + 0.05 * PLOT, GPU0_Y], [MARGIN + 0.2 * PLOT, GPU0_Y]

    page.locator("#time .legend .term", has_text="exposed communication").focus()
    picture.settle()
    assert page.locator(".chart rect.lit").count() == page.locator(".chart rect.exposed_communication").count() > 0
    opacity = "rect => getComputedStyle(rect).opacity"
    assert page.locator("#time figure .chart rect.compute_only").evaluate(opacity) == "0.18"
    assert page.locator("#time figure .chart rect.exposed_communication").evaluate(opacity) == "1"
    assert [page.evaluate(PIXEL, spot)[3] for spot in (compute, communication)] == [48, 255]
    page.keyboard.press("Tab")
    picture.settle()
    assert page.locator(".chart rect.lit").count() == 0
    assert page.evaluate(PIXEL, compute)[3] == 255


def test_every_fill_looks_unlike_any_other(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    fills = sorted(set(" ".join(LIGHTS.values()).split()))
    swatches = "".join(
        f'<rect class="{fill}" x="{place * 40}" width="30" height="30" stroke="none"/>'
        for place, fill in enumerate(fills)
    )
    page.evaluate(
        """swatches => {
          document.querySelector("main").innerHTML = `<svg id="swatches" width="1200" height="30">${swatches}</svg>`;
        }""",
        swatches,
    )
    shots = [
        page.screenshot(clip={"x": box["x"], "y": box["y"], "width": 30, "height": 30})
        for box in (rect.bounding_box() for rect in page.locator("#swatches rect").all())
        if box is not None
    ]

    assert len(fills) == len(set(shots)) == 24
    assert set(fills) <= set(PAINTS)
