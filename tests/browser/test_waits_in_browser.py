"""Causes, steps, gap stories and ranges in Chromium: figures of run.json, links to the timeline, colours of causes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.model.run import Run
from nsysan.model.run_json import encode_run
from tests.browser.test_timeline_in_browser import GPU1_Y, PIXEL, PLOT, Picture
from tests.report.drawn_lanes import TIMELINE, gpu_lanes, whole
from tests.report.runs import RESULTS, full_run, run_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

DATA = [0xC4, 0x22, 0x8A, 255]
SCHEDULING = [0x8F, 0x5F, 0xDC, 255]
BELOW_THE_LINE = 20 + 3 - 10
"""From the middle of a lane's work, of 20 pixels, into the middle of the idle time below, of 7."""

# the gap of gpu1 that has a story: 100 ms wait for data and 25 for launches
EXPLAINED_LANE = whole(
    (125, "compute_only"), (100, "data_loading"), (25, "launch_starved"), (250, "compute_only"), (500, "idle")
)


def explained_run() -> Run:
    """The full run with the causes of a gap in the timeline."""
    lanes = (TIMELINE.timeline.lanes[0], gpu_lanes("gpu1", EXPLAINED_LANE))
    return run_of(*RESULTS[:-1], replace(TIMELINE, timeline=replace(TIMELINE.timeline, lanes=lanes)))


@pytest.fixture
def picture(open_page: OpenPage) -> Picture:
    """The timeline of a run whose idle time has causes."""
    return Picture(open_page(explained_run()).page)


def cells(page: Page, table: str) -> list[list[str]]:
    """The texts of a table's rows, notes left out."""
    rows = page.locator(f"#{table} tbody tr").all()
    return [[cell.split("\n")[0] for cell in row.locator("th, td").all_inner_texts()] for row in rows]


def in_ns(milliseconds: str) -> int:
    return round(float(milliseconds.replace(",", "").removesuffix(" ms").removesuffix("\u00a0ms")) * 1_000_000)


def test_idle_time_by_cause_is_that_of_run_json_and_adds_up(open_page: OpenPage) -> None:
    run = full_run()
    page = open_page(run).page
    saved = json.loads(encode_run(run))

    for row, gpu in zip(cells(page, "idle-causes"), saved["gpus"], strict=True):
        times = [in_ns(cell) for cell in row[1:]]
        assert times[:-1] == [
            gpu["idle_causes"][f"{name}_ns"] for name in ("data_loading", "launch_starved", "handover")
        ]
        assert times[-1] == sum(times[:-1]) == gpu["time"]["idle_ns"]


def test_steps_are_those_of_run_json(open_page: OpenPage) -> None:
    run = full_run()
    page = open_page(run).page
    (device,) = json.loads(encode_run(run))["steps"]["devices"]

    rows = cells(page, "step-list")
    assert [in_ns(row[4]) for row in rows] == [step["duration_ns"] for step in device["list"]]
    assert [in_ns(row[5]) for row in rows] == [step["time"]["idle_ns"] for step in device["list"]]
    assert page.locator("#steps .columns rect.left-out").count() == 3


def test_a_step_leads_to_its_place_in_the_timeline(picture: Picture) -> None:
    picture.page.locator("#step-list a.place").nth(1).click()

    assert picture.reading == "Selected: 40.000 ms from 2.100000000s, gpu0, exact"


def test_a_story_opens_and_leads_to_its_gap(picture: Picture) -> None:
    story = picture.page.locator(".story")
    assert story.locator("dl").is_hidden()

    story.locator("summary").click()
    assert "next(loader)" in story.locator("dl").inner_text()
    story.locator("a.place").click()

    assert picture.reading == "Selected: 125.000 ms from 2.125000000s, gpu1, exact"
    assert picture.figures == {
        "idle": "100.0 %, 125.000 ms",
        "data loading": "80.0 %, 100.000 ms",
        "launch starved": "20.0 %, 25.000 ms",
    }


def test_idle_time_hangs_in_the_colour_of_its_cause_and_is_named(picture: Picture) -> None:
    for share, colour in ((0.17, DATA), (0.24, SCHEDULING)):
        x = 84 + share * PLOT
        assert picture.page.evaluate(PIXEL, [x, GPU1_Y + BELOW_THE_LINE]) == colour

    assert picture.hover(0.17, GPU1_Y) == "data loading\n2.125000000s, 100.000 ms"


def test_the_tree_of_ranges_keeps_its_order_and_names_sort(open_page: OpenPage) -> None:
    page = open_page(full_run()).page

    assert page.locator("#range-tree .sort").count() == 0
    assert [row[0] for row in cells(page, "range-tree")] == ["step *", "forward", "layer *", "backward", "setup"]
    page.locator("#range-names").get_by_role("button", name="Sort by CPU self").click()
    assert [row[0] for row in cells(page, "range-names")] == ["forward", "step *", "request *"]


def test_on_paper_the_stories_are_open(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    page.emulate_media(media="print")

    assert page.locator(".story dl").bounding_box() is not None
    assert page.locator(".story summary").is_hidden()
