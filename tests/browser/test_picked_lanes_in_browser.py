"""Where not every GPU has a lane, the reader picks which lie side by side on the common clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.analysis.timeline import OtherLane, Timeline
from tests.report.drawn_lanes import SECOND_LANE, TIMELINE
from tests.report.gpu_times import TWO_GPUS
from tests.report.runs import run_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from nsysan.model.run import Run
    from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

SHOWN = """() => document.querySelector(".timeline-reading").textContent"""


def one_of_two() -> Run:
    """Of two GPUs the first has a lane at once."""
    lanes = TIMELINE.timeline
    other = OtherLane("gpu1", 0, SECOND_LANE)
    return run_of(TWO_GPUS, Timeline(replace(lanes, lanes=lanes.lanes[:1], other_lanes=(other,))))


def pick(page: Page, numbers: str) -> str:
    """What the page says of picking these."""
    page.get_by_label("Side by side, GPUs:").fill(numbers)
    page.get_by_role("button", name="Show", exact=True).click()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    said: str = page.locator(".timeline-picker [role=status]").inner_text()
    return said


def test_any_gpu_is_put_beside_any_other_with_its_own_figures(open_page: OpenPage) -> None:
    opened = open_page(one_of_two())
    page = opened.page

    assert pick(page, "1") == "1 shown"
    # what the run holds of the second GPU: 500 of 1,000 ms computing, 250 idle
    assert "gpu1" in page.evaluate(SHOWN)
    assert page.locator("[data-column=compute_only]").inner_text() == "50.0\u00a0%"
    # the second lane of two is that of the first GPU
    assert pick(page, "1, 0") == "2 shown"
    page.locator(".timeline-lanes").press("ArrowDown")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert "gpu0" in page.evaluate(SHOWN)
    assert pick(page, "1") == "1 shown"
    page.get_by_role("button", name="As at first").click()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert "gpu0" in page.evaluate(SHOWN)
    assert (opened.complaints, len(opened.requests), opened.dialogs) == ([], 1, [])


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("7", "There is no GPU 7 here."),
        ("", "Write GPUs as 0, 7, 512-515."),
        ("one", "Write GPUs as 0, 7, 512-515."),
        ("5-1", "Write GPUs as 0, 7, 512-515."),
        ("0-9999999", "There is room for 32 at once."),
        ("<img src=x onerror=alert(1)>", "Write GPUs as 0, 7, 512-515."),
    ],
)
def test_what_cannot_be_picked_is_said_and_changes_nothing(open_page: OpenPage, numbers: str, said: str) -> None:
    opened = open_page(one_of_two())

    assert pick(opened.page, numbers) == said
    assert "gpu0" in opened.page.evaluate(SHOWN)
    assert opened.dialogs == []


def test_where_every_gpu_has_a_lane_there_is_nothing_to_pick(open_page: OpenPage) -> None:
    opened = open_page(run_of(TWO_GPUS, TIMELINE))

    assert opened.page.locator(".timeline-picker").count() == 0
