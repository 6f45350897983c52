"""The timeline in Chromium: moved by keys, mouse, wheel, touch and links, its figures are those of the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.model.run_json import encode_run
from nsysan.model.text import visible_text
from nsysan.model.units import format_duration, format_timestamp
from tests.report.drawn_lanes import TIMELINE
from tests.report.gpu_times import TWO_GPUS
from tests.report.recorded import GAPS
from tests.report.runs import full_run, run_of
from tests.report.test_hostile import PAYLOADS, hostile_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

# at a width of 1280 the picture is 1200 px wide, of which the labels take 84; the rows stand one under the other: a
# ruler of 24, the steps with 21, two rows of ranges with 40, three lanes of 33 each, 10 of space, and the streams
MARGIN, PLOT = 84, 1116
STEPS_Y, RANGES_Y, ALL_Y, GPU0_Y, GPU1_Y, STREAM_Y = 24 + 7, 45 + 7, 85 + 10, 118 + 10, 151 + 10, 194 + 7

PIXEL = """([x, y]) => {
  const canvas = document.querySelector(".timeline-lanes");
  const ratio = canvas.width / canvas.clientWidth;
  return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data];
}"""
APPROXIMATE = "approximate: in pieces of up to 275.000 ms, each shared out evenly"
COMPUTE = {"light": [0x1D, 0x44, 0x89, 255], "dark": [0x3B, 0x6F, 0xB8, 255]}


class Picture:
    """The timeline of a page, at a known place in sight."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.emulate_media(reduced_motion="reduce")
        self.canvas = page.locator(".timeline-lanes")
        self.canvas.scroll_into_view_if_needed()

    def point(self, share: float, y: float) -> tuple[float, float]:
        """Where a share of the view and a height in the picture lie on the screen."""
        box = self.canvas.bounding_box()
        assert box is not None
        return box["x"] + MARGIN + share * PLOT, box["y"] + y

    def press(self, *keys: str) -> None:
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def drag(self, start: float, end: float, y: float, *, key: str | None = None) -> None:
        if key:
            self.page.keyboard.down(key)
        self.page.mouse.move(*self.point(start, y))
        self.page.mouse.down()
        self.page.mouse.move(*self.point(end, y), steps=4)
        self.page.mouse.up()
        if key:
            self.page.keyboard.up(key)
        self.settle()

    def hover(self, share: float, y: float) -> str:
        self.page.mouse.move(*self.point(share, y))
        note: str = self.page.locator(".timeline-note").inner_text()
        return note.replace("\u00a0", " ")

    def settle(self) -> None:
        """Two frames later everything is drawn."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    @property
    def reading(self) -> str:
        self.settle()
        return self.page.locator(".timeline-reading").inner_text().replace("\u00a0", " ")

    @property
    def figures(self) -> dict[str, str]:
        """What the legend says of each part that took any time."""
        entries = [entry.split("\n") for entry in self.page.locator(".timeline-keys li").all_inner_texts()]
        texts = ["".join(entry).replace("\u00a0", " ") for entry in entries]
        words = [[*text.split(" %")[0].rsplit(" ", 1), text.split("% ")[1]] for text in texts]
        return {name: f"{share} %, {time}" for name, share, time in words if time != "0 ns"}


@pytest.fixture
def picture(open_page: OpenPage) -> Picture:
    return Picture(open_page(full_run()).page)


def test_over_the_whole_window_the_figures_are_those_of_run_json(picture: Picture) -> None:
    saved = json.loads(encode_run(full_run()))

    for gpu in saved["gpus"]:
        times = {key.removesuffix("_ns").replace("_", " "): time for key, time in gpu["time"].items() if time}
        assert picture.figures == {
            name: f"{time / 10**7:.1f} %, {format_duration(time)}" for name, time in times.items()
        }
        picture.press("ArrowDown")


def test_keys_zoom_pan_and_lead_to_both_ends(picture: Picture) -> None:
    assert picture.reading == f"In view: 1.000 s from 2.000000000s, gpu0, {APPROXIMATE}"
    picture.press("+")
    assert picture.reading.startswith("In view: 500.000 ms from 2.250000000s, gpu0")
    picture.press("ArrowLeft", "ArrowLeft")
    assert picture.reading.startswith("In view: 500.000 ms from 2.150000000s")
    picture.press("End")
    assert picture.reading.startswith("In view: 500.000 ms from 2.500000000s")
    picture.press("Home")
    assert picture.reading.startswith("In view: 500.000 ms from 2.000000000s")
    picture.press("ArrowDown", "+")
    assert picture.reading == "In view: 250.000 ms from 2.125000000s, gpu1, exact"
    picture.press("0")
    assert picture.reading.startswith("In view: 1.000 s from 2.000000000s, gpu1")


def test_zoom_ends_where_a_pixel_tells_no_more_and_at_the_window(picture: Picture) -> None:
    picture.press(*["+"] * 40)
    assert picture.reading.startswith("In view: 100 ns from 2.4999999")
    picture.press(*["-"] * 40)
    assert picture.reading.startswith("In view: 1.000 s from 2.000000000s")


def test_the_wheel_scrolls_the_page_until_the_picture_has_the_focus_or_with_control(picture: Picture) -> None:
    page = picture.page

    def scrolled() -> float:
        top: float = page.evaluate("scrollY")
        return top

    before = scrolled()
    page.mouse.move(*picture.point(0.5, GPU0_Y))
    page.mouse.wheel(0, 40)
    page.wait_for_function("before => scrollY !== before", arg=before)
    assert picture.reading.startswith("In view: 1.000 s")

    before = scrolled()
    page.keyboard.down("Control")
    page.mouse.move(*picture.point(0.5, GPU0_Y))
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    assert not picture.reading.startswith("In view: 1.000 s")

    picture.press("0")
    page.mouse.wheel(0, -100)
    assert not picture.reading.startswith("In view: 1.000 s")
    assert scrolled() == before


def test_dragging_pans_as_far_as_the_mouse_goes(picture: Picture) -> None:
    picture.press("+")
    # a quarter of 500 ms
    picture.drag(0.25, 0.5, GPU0_Y)

    assert picture.reading.startswith("In view: 500.000 ms from 2.125000000s")


@pytest.mark.parametrize(("key", "y"), [("Shift", GPU0_Y), (None, 4)])
def test_what_is_selected_is_summed_up_by_part(picture: Picture, key: str | None, y: float) -> None:
    # with Shift, or on the ruler: 2,000 to 2,250 ms hold 100 of computing, 50 of idle and 100 of communication
    picture.drag(0, 0.25, y, key=key)

    assert picture.reading == "Selected: 250.000 ms from 2.000000000s, gpu0, exact"
    assert picture.figures == {
        "compute only": "40.0 %, 100.000 ms",
        "exposed communication": "40.0 %, 100.000 ms",
        "idle": "20.0 %, 50.000 ms",
    }
    picture.press("Enter", "Escape")
    assert picture.reading == "In view: 250.000 ms from 2.000000000s, gpu0, exact"


def test_keys_select_from_the_middle_on_and_what_is_mixed_is_shared_out_and_said(picture: Picture) -> None:
    picture.press("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowLeft")

    # a fortieth of a second; of the piece of 275 ms 125 are computing, 100 overlapped and 50 copies
    assert picture.reading == f"Selected: 25.000 ms from 2.500000000s, gpu0, {APPROXIMATE}"
    assert picture.figures == {
        "compute only": "45.5 %, 11.364 ms",
        "overlapped": "36.4 %, 9.091 ms",
        "exposed copy": "18.2 %, 4.545 ms",
    }


def test_tables_lead_to_the_place_of_a_gap_and_of_a_kernel(picture: Picture) -> None:
    picture.page.locator("#largest-gaps a.place").first.click()
    assert picture.reading == "Selected: 125.000 ms from 2.125000000s, gpu1, exact"
    assert picture.figures == {"idle": "100.0 %, 125.000 ms"}
    assert picture.page.url.endswith("#timeline")

    picture.page.locator("#kernel-names a.place").first.click()
    assert picture.reading == "Selected: 100.000 ms from 2.000000000s, gpu0, exact"


def test_keys_walk_the_gaps_and_the_kernels_of_the_gpu(picture: Picture) -> None:
    picture.press("]")
    assert picture.reading == "Selected: 50.000 ms from 2.100000000s, gpu0, exact"
    picture.press("]", "]", "[")
    assert picture.reading.startswith("Selected: 25.000 ms from 2.300000000s, gpu0")
    picture.press("Escape", "0", ".")
    assert picture.reading.startswith("Selected: 50.000 ms from 2.450000000s, gpu0")
    assert picture.page.locator(".timeline-note b").inner_text() == "[memory copy]"


def test_what_lies_under_the_mouse_is_named_with_begin_and_duration(picture: Picture) -> None:
    assert picture.hover(0.05, STREAM_Y) == "sgemm\n2.000000000s, 100.000 ms"
    assert picture.hover(0.2, RANGES_Y) == "step 1\n2.100000000s, 400.000 ms"
    assert picture.hover(0.12, GPU0_Y) == "idle\n2.100000000s, 50.000 ms"
    assert picture.hover(0.4, GPU0_Y) == (
        "compute only 45.5 %, overlapped 36.4 %, exposed copy 18.2 %\n2.325000000s, 275.000 ms, aggregated"
    )
    picture.page.mouse.move(0, 0)
    assert picture.page.locator(".timeline-note").is_hidden()
    picture.hover(0.12, GPU0_Y)
    picture.page.keyboard.press("Escape")
    assert picture.page.locator(".timeline-note").is_hidden()


def test_a_click_chooses_a_gpu_and_a_tap_names_what_is_there(picture: Picture) -> None:
    picture.page.mouse.click(*picture.point(0.2, GPU1_Y))

    assert "gpu1" in picture.reading
    assert picture.page.locator(".timeline-note b").inner_text() == "idle"
    picture.page.mouse.click(*picture.point(0.2, ALL_Y))
    assert "summed over all 2 GPUs" in picture.reading


def test_two_fingers_zoom_and_one_pans(picture: Picture) -> None:
    touch = picture.page.context.new_cdp_session(picture.page)

    def send(kind: str, *shares: float) -> None:
        points = [dict(zip("xy", picture.point(share, GPU0_Y), strict=True)) for share in shares]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", 0.375, 0.625)
    send("touchMove", 0.25, 0.75)
    send("touchEnd")
    # twice as far apart around the middle
    assert picture.reading.startswith("In view: 500.000 ms from 2.250000000s")
    send("touchStart", 0.25)
    send("touchMove", 0.4)
    send("touchMove", 0.5)
    send("touchEnd")
    assert picture.reading.startswith("In view: 500.000 ms from 2.125000000s")


@pytest.mark.parametrize("first", ["light", "dark"])
def test_the_picture_follows_the_theme(open_page: OpenPage, first: str) -> None:
    picture = Picture(open_page(full_run(), theme=first).page)
    spot = [MARGIN + 0.05 * PLOT, GPU0_Y]
    other = {"light": "dark", "dark": "light"}[first]

    assert picture.page.evaluate(PIXEL, spot) == COMPUTE[first]
    picture.page.get_by_role("button", name="Switch between light and dark").click()
    picture.settle()
    assert picture.page.evaluate(PIXEL, spot) == COMPUTE[other]


def test_on_paper_it_is_light_and_shows_the_whole_window(open_page: OpenPage) -> None:
    picture = Picture(open_page(full_run(), theme="dark").page)
    picture.press("]")
    at_the_end = [MARGIN + 0.98 * PLOT, GPU0_Y]

    picture.page.emulate_media(media="print")
    picture.settle()
    width = picture.page.evaluate("document.querySelector('.timeline-lanes').clientWidth")
    at_the_end[0] = MARGIN + 0.98 * (width - MARGIN)
    assert picture.page.evaluate(PIXEL, at_the_end) == COMPUTE["light"]
    picture.page.emulate_media(media="screen")
    assert picture.reading == "Selected: 50.000 ms from 2.100000000s, gpu0, exact"


def test_hostile_names_are_drawn_and_shown_as_they_are(open_page: OpenPage) -> None:
    payload = "".join(PAYLOADS)
    opened = open_page(hostile_run(payload))
    picture = Picture(opened.page)

    assert picture.hover(0.05, STREAM_Y).startswith(visible_text(payload)[:100])
    assert (opened.dialogs, opened.complaints, len(opened.requests)) == ([], [], 1)


def test_a_run_of_one_gpu_without_streams_and_ranges_is_drawn_too(open_page: OpenPage) -> None:
    lane = replace(TIMELINE.timeline.lanes[0], streams=(), threads=(), exact=())
    one = replace(TIMELINE, timeline=replace(TIMELINE.timeline, lanes=(lane,), all_gpus=None, gpu_count=1))
    opened = open_page(run_of(TWO_GPUS, GAPS, one))
    picture = Picture(opened.page)
    picture.press("]", ".", "[")

    assert "gpu0" in picture.reading
    assert opened.complaints == []


def test_damaged_data_is_said_to_be_and_the_rest_of_the_page_works(open_page: OpenPage) -> None:
    lane = replace(TIMELINE.timeline.lanes[0].lane, pieces="no base64!")
    lanes = (replace(TIMELINE.timeline.lanes[0], lane=lane),)
    opened = open_page(run_of(TWO_GPUS, replace(TIMELINE, timeline=replace(TIMELINE.timeline, lanes=lanes))))

    assert opened.page.locator(".timeline .missing").inner_text().startswith("The timeline's data cannot be read")
    opened.page.locator("#partition .term").first.focus()
    assert opened.page.locator("#tip").is_visible()
    assert opened.complaints == []


@pytest.mark.parametrize("time_ns", [0, -1, -10_927_915, -2_000_000_000, 60_111_541_307])
def test_moments_are_written_as_everywhere_before_time_zero_too(picture: Picture, time_ns: int) -> None:
    assert picture.page.evaluate(f"pageFigures.moment({time_ns})") == format_timestamp(time_ns)
