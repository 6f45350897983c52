"""The page on a phone: one finger pans the timeline and scrolls the page, two zoom, taps choose."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nsysan.report.formats.html import render_page
from tests.browser.test_timeline_in_browser import ALL_Y, GPU0_Y, GPU1_Y, STEPS_Y
from tests.report.runs import full_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, CDPSession, Page

pytestmark = pytest.mark.browser

# at a width of 375 the picture is 339 px wide, of which the labels take 58
MARGIN, PLOT = 58, 281
Point = tuple[float, float]


class Phone:
    """A page under real touch events."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self.page, self.cdp = page, cdp
        self.canvas = page.locator(".timeline-lanes")
        self.canvas.scroll_into_view_if_needed()

    def point(self, share: float, y: float) -> Point:
        box = self.canvas.bounding_box()
        assert box is not None
        return box["x"] + MARGIN + share * PLOT, box["y"] + y

    def touch(self, *stages: tuple[Point, ...]) -> None:
        """Fingers down, moved from stage to stage, and up."""
        for stage, points in enumerate(stages):
            touching = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(points)]
            self._send("touchMove" if stage else "touchStart", touching)
        self._send("touchEnd", [])
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _send(self, kind: str, points: list[dict[str, float]]) -> None:
        self.cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def slide(self, start: Point, end: Point, count: int = 8) -> None:
        """One finger from a point to another, in so many moves."""
        along = [
            (start[0] + (end[0] - start[0]) * at / count, start[1] + (end[1] - start[1]) * at / count)
            for at in range(count + 1)
        ]
        self.touch(*((point,) for point in along))

    def pinch(self, y: float, widths: tuple[float, float]) -> None:
        """Two fingers around the middle, from one distance to another as shares of the picture."""
        first, last = widths
        stages = [first + (last - first) * at / 8 for at in range(9)]
        self.touch(*((self.point(0.5 - width / 2, y), self.point(0.5 + width / 2, y)) for width in stages))

    @property
    def reading(self) -> str:
        return self.page.locator(".timeline-reading").inner_text().replace("\u00a0", " ")

    @property
    def view_ms(self) -> tuple[int, int]:
        """How long the view is and when it begins: fingers lie on fractions of pixels."""
        found = re.match(r"In view: ([\d.]+) (m?s) from ([\d.]+)s", self.reading)
        assert found is not None
        length, unit, begin = found.groups()
        return round(float(length) * (1 if unit == "ms" else 1_000)), round(float(begin) * 1_000)

    @property
    def scrolled(self) -> float:
        top: float = self.page.evaluate("scrollY")
        return top


@pytest.fixture
def phone(browser: Browser, tmp_path: Path) -> Iterator[Phone]:
    path = tmp_path / "page.html"
    path.write_text(render_page(full_run()), encoding="utf-8")
    context = browser.new_context(
        viewport={"width": 375, "height": 812},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(path.as_uri())
    yield Phone(page, context.new_cdp_session(page))
    context.close()


def test_two_fingers_zoom_around_what_is_between_them_and_back(phone: Phone) -> None:
    phone.pinch(GPU0_Y, (0.2, 0.8))
    # four times as far apart
    assert phone.view_ms == (250, 2_375)
    phone.pinch(GPU0_Y, (0.8, 0.2))
    assert phone.view_ms == (1_000, 2_000)
    assert phone.page.evaluate("visualViewport.scale") == 1


def test_one_finger_across_pans_and_does_not_scroll_the_page(phone: Phone) -> None:
    phone.pinch(GPU0_Y, (0.2, 0.8))
    before = phone.scrolled
    phone.slide(phone.point(0.8, GPU0_Y), phone.point(0.2, GPU0_Y))

    # 0.6 of 250 ms further
    assert phone.view_ms == (250, 2_525)
    assert phone.scrolled == before


def test_one_finger_along_scrolls_the_page_and_leaves_the_view(phone: Phone) -> None:
    before = phone.scrolled
    phone.slide(phone.point(0.5, GPU1_Y), (phone.point(0.5, GPU1_Y)[0], phone.point(0.5, GPU1_Y)[1] - 150), 12)
    phone.page.wait_for_function("before => scrollY > before + 50", arg=before)

    assert phone.reading.startswith("In view: 1.000 s from 2.000000000s, gpu0")


def test_a_finger_on_the_ruler_selects_and_a_tap_chooses_or_selects_a_step(phone: Phone) -> None:
    phone.slide(phone.point(0, 6), phone.point(0.25, 6))
    assert phone.reading == "Selected: 250.000 ms from 2.000000000s, gpu0, exact"
    phone.touch((phone.point(0.2, GPU1_Y),))
    assert "gpu1" in phone.reading
    assert phone.page.locator(".timeline-note b").inner_text() == "idle"
    phone.touch((phone.point(0.2, ALL_Y),))
    assert "summed over all 2 GPUs" in phone.reading
    phone.touch((phone.point(0.2, GPU0_Y),))
    phone.touch((phone.point(0.22, STEPS_Y),))
    assert phone.reading.startswith("Selected: 100.000 ms from 2.200000000s, gpu0")
