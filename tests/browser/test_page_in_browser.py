"""The page in Chromium, opened from disk: it asks for nothing, works, fits, and shows what the run holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

import pytest
from msgspec.structs import replace

from nsysan.model.kernels import KernelClass
from nsysan.model.run import Run
from nsysan.model.run_json import encode_run
from nsysan.model.text import visible_text
from tests.browser.conftest import OpenPage
from tests.report.pages import squeezed
from tests.report.recorded import KERNELS, kernel
from tests.report.runs import bare_run, empty_run, full_run, run_of, skipped_run
from tests.report.test_hostile import PAYLOADS, hostile_run

pytestmark = pytest.mark.browser

RUNS = [full_run, empty_run, skipped_run, bare_run]
WIDTHS = [1280, 768, 375]
THEMES: list[Literal["light", "dark"]] = ["light", "dark"]
every_run = pytest.mark.parametrize("make_run", RUNS)

CONTRASTS = """() => {
  // a mixed colour is written as color(srgb ...), from 0 to 1
  const rgb = (color) => color.match(/[\\d.]+/g).map((part, place) =>
    Number(part) * (color.startsWith("color(") && place < 3 ? 255 : 1));
  const luminance = (color) => {
    const [r, g, b] = rgb(color).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if ((rgb(color)[3] ?? 1) > 0) return color;
    }
    throw new Error("no background");
  };
  const ratio = (element) => {
    const style = getComputedStyle(element);
    const text = element instanceof SVGElement ? style.fill : style.color;
    const [light, dark] = [luminance(text), luminance(background(element))].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && element.checkVisibility()) found.push(ratio(element));
  }
  return found;
}"""

UNREACHABLE = """() => [...document.querySelectorAll(".scroll")]
  .filter((frame) => frame.scrollWidth > frame.clientWidth)
  .filter((frame) => frame.tabIndex !== 0 && !frame.querySelector("[tabindex='0']")).length"""


FOCUSED = """() => {
  const focused = document.activeElement;
  if (focused === document.body) return null;
  const shown = (x, y) => focused.contains(document.elementFromPoint(x, y));
  const inSight = [...focused.getClientRects()].some(({ left, right, top, bottom }) =>
    [left + 0.5, (left + right) / 2, right - 0.5].some((x) => shown(x, (top + bottom) / 2)),
  );
  focused.dataset.reached = "";
  return [focused.className.baseVal ?? focused.className, inSight];
}"""
MOST_STOPS = 134
"""Stops of Tab on a page that holds everything, all of it unfolded."""


IN_GROUP = """() => document.activeElement.matches("a, button, summary") &&
  Boolean(document.activeElement.closest(".table, .legend, .timeline-keys, .columns, .figures, .stories"))"""
IS_NOT_LAST = """() => {
  const group = document.activeElement.closest(".table, .legend, .timeline-keys, .columns, .figures, .stories");
  const all = [...group.querySelectorAll("a, button, summary")].filter((control) => control.checkVisibility());
  return all.at(-1) !== document.activeElement;
}"""
NOT_REACHED = """() => [...document.querySelectorAll("a, button, summary, input, canvas[tabindex]")]
  .filter((control) => control.checkVisibility() && !("reached" in control.dataset))
  .map((control) => control.outerHTML)"""


def run_of_long_words() -> Run:
    """Every text is one word that cannot be broken at a space."""
    return hostile_run("x" * 240)


@every_run
def test_nothing_is_requested_and_nothing_complains(open_page: OpenPage, make_run: Callable[[], Run]) -> None:
    opened = open_page(make_run())
    opened.page.wait_for_load_state("networkidle")

    assert opened.requests == [opened.page.url]
    assert opened.complaints == []
    assert opened.page.title().endswith("| nsysan")


def test_hostile_text_is_shown_and_never_run(open_page: OpenPage) -> None:
    payload = "".join(PAYLOADS)
    opened = open_page(hostile_run(payload))

    assert (opened.dialogs, opened.complaints, len(opened.requests)) == ([], [], 1)
    assert squeezed(visible_text(payload)) in squeezed(opened.page.inner_text("#kernel-names"))
    assert opened.page.evaluate("document.scripts.length") == 1


@pytest.mark.parametrize("make_run", [*RUNS, run_of_long_words])
def test_the_page_never_scrolls_sideways(open_page: OpenPage, make_run: Callable[[], Run]) -> None:
    page = open_page(make_run()).page

    def overflow(width: int) -> tuple[int, int]:
        page.set_viewport_size({"width": width, "height": 900})
        needed: int = page.evaluate("document.documentElement.scrollWidth")
        return max(0, needed - width), page.evaluate(UNREACHABLE)

    assert {width: overflow(width) for width in WIDTHS} == dict.fromkeys(WIDTHS, (0, 0))


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_contrast_in_both_themes(open_page: OpenPage, theme: Literal["light", "dark"]) -> None:
    ratios = open_page(full_run(), theme=theme).page.evaluate(CONTRASTS)

    assert len(ratios) > 200
    assert min(ratios) >= 4.5


def test_the_theme_follows_the_system_until_the_button_is_pressed(open_page: OpenPage) -> None:
    page = open_page(full_run(), theme="dark").page

    def background() -> str:
        color: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return color

    assert background() == "rgb(16, 18, 22)"
    page.get_by_role("button", name="Switch between light and dark").click()
    assert background() == "rgb(252, 252, 250)"
    page.reload()
    assert background() == "rgb(16, 18, 22)"


def test_columns_sort_by_their_figures_and_names_by_the_alphabet(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    rows = page.locator("#kernel-names tbody tr th")
    names = page.locator("#kernel-names")

    names.get_by_role("button", name="Sort by count").click()
    assert rows.all_inner_texts() == ["mystery", "sgemm", "ncclDevKernel_AllReduce"]
    names.get_by_role("button", name="Sort by total").click()
    assert rows.all_inner_texts() == ["sgemm", "mystery", "ncclDevKernel_AllReduce"]
    names.get_by_role("button", name="Sort by total").click()
    assert rows.all_inner_texts() == ["ncclDevKernel_AllReduce", "mystery", "sgemm"]
    names.get_by_role("button", name="Sort by Kernel").click()
    assert rows.all_inner_texts() == ["mystery", "ncclDevKernel_AllReduce", "sgemm"]
    assert page.locator("#kernel-names [aria-sort]").all_inner_texts() == ["Kernel"]


def test_a_search_finds_rows_by_every_word_in_name_or_class(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    visible = page.locator("#kernel-names tbody tr:visible th")

    field = page.locator("#kernel-names-search")
    field.fill("NCCL communication")
    assert visible.all_inner_texts() == ["ncclDevKernel_AllReduce"]
    assert page.locator("#kernels .search [role=status]").inner_text() == "1 of 3 rows"
    field.fill("")
    assert visible.count() == 3


def test_a_long_table_begins_with_its_first_rows_and_shows_all_on_demand(open_page: OpenPage) -> None:
    page = open_page(many_kernels()).page
    visible = page.locator("#kernel-names tbody tr:visible")

    assert visible.count() == 10
    page.get_by_role("button", name="Show all 60 rows").click()
    assert visible.count() == 60


def many_kernels() -> Run:
    names = tuple(kernel(f"kernel_{index}", KernelClass.GEMM, 10**6) for index in range(60))
    return run_of(replace(KERNELS, kernels=names))


def test_terms_show_their_definition_on_hover_and_on_focus_and_lead_to_it(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    tip, term = page.locator("#tip"), page.locator("#partition .term", has_text="overlapped")

    assert tip.is_hidden()
    term.focus()
    assert tip.inner_text() == "Compute kernels run, and communication runs beside them, hidden."
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    term.hover()
    assert tip.is_visible()
    page.keyboard.press("Enter")
    assert page.url.endswith("#def-overlapped")


def test_the_keyboard_reaches_the_skip_link_first_and_focus_can_be_seen(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    page.keyboard.press("Tab")
    focused = page.locator(":focus")

    assert focused.inner_text() == "Skip to the verdict"
    assert focused.evaluate("element => element.getBoundingClientRect().top >= 0")
    page.keyboard.press("Tab")
    assert focused.evaluate("element => getComputedStyle(element).outlineStyle") == "solid"


@pytest.mark.parametrize("width", WIDTHS)
def test_tab_and_arrows_reach_every_control_and_none_is_covered_then(open_page: OpenPage, width: int) -> None:
    page = open_page(full_run(), width=width).page
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    stops: list[str] = []
    covered: list[str] = []

    def look() -> bool:
        """Takes down what has the focus; says whether anything has."""
        focused = page.evaluate(FOCUSED)
        if focused is None:
            return False
        name, in_sight = focused
        if not in_sight:
            covered.append(name)
        return True

    page.keyboard.press("Tab")
    while look():
        stops.append(page.evaluate("document.activeElement.className.baseVal ?? document.activeElement.className"))
        if page.evaluate(IN_GROUP):
            # through the group from its first control to its last
            page.keyboard.press("Home")
            while look() and page.evaluate(IS_NOT_LAST):
                page.keyboard.press("ArrowRight")
        page.keyboard.press("Tab")

    assert covered == []
    assert page.evaluate(NOT_REACHED) == []
    assert len(stops) <= MOST_STOPS


def test_arrows_go_to_the_row_above_and_below_and_a_search_leaves_a_stop(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    focused = page.locator(":focus")

    page.locator("#largest-gaps tbody a.place").first.focus()
    page.keyboard.press("ArrowDown")
    assert focused.inner_text() == "2.500000000s"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused.get_attribute("aria-label") == "Sort by Begins at"
    page.locator("#largest-gaps tbody a.place").first.focus()
    page.locator("#largest-gaps-search").fill("gpu0")
    page.keyboard.press("Tab")
    assert focused.evaluate("control => control.checkVisibility() && control.closest('table').id") == "largest-gaps"


def test_what_a_search_finds_is_summed_up(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    total = page.locator("#kernel-names tfoot tr").first

    assert total.is_hidden()
    # not sgemm, but NCCL with 10 runs in 450 ms and mystery with 250 in 500
    page.locator("#kernel-names-search").fill("o")
    assert [cell.replace("\u00a0", " ") for cell in total.locator("th, td").all_inner_texts()] == [
        "2 rows found", "", "", "260", "950.000 ms", "47.5 %", "", "",
    ]  # fmt: skip
    page.locator("#kernel-names-search").fill("")
    assert total.is_hidden()


def test_figures_on_the_page_are_those_of_run_json(open_page: OpenPage) -> None:
    run = full_run()
    page = open_page(run).page
    saved = json.loads(encode_run(run))
    rows = [
        [cell.split("\n")[0] for cell in row.locator("td").all_inner_texts()]
        for row in page.locator("#partition tbody tr").all()
    ]

    assert [[round(float(cell.replace(",", "")) * 1_000_000) for cell in row[:7]] for row in rows] == [
        list(gpu["time"].values()) for gpu in saved["gpus"]
    ]
    counts = page.locator("#kernel-names tbody tr td:nth-child(4)").all_inner_texts()
    assert [int(count.replace(",", "")) for count in counts] == [kernel["count"] for kernel in saved["kernels"]]
    begins = page.locator("#largest-gaps tbody th").all_inner_texts()
    assert [round(float(begin.rstrip("s")) * 1e9) for begin in begins[:2]] == [
        gap["start_ns"] for gap in saved["gaps"][:2]
    ]


def test_without_the_script_the_page_is_whole_and_shows_no_dead_control(open_page: OpenPage) -> None:
    browser = open_page(full_run()).page.context.browser
    assert browser is not None
    address = open_page(full_run()).page.url
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(address)

    assert page.locator("#kernel-names tbody tr").count() == 3
    assert page.locator("button:visible, input:visible").count() == 0
    page.context.close()


def test_in_print_the_page_is_light_and_the_controls_are_gone(open_page: OpenPage) -> None:
    page = open_page(full_run(), theme="dark").page
    page.emulate_media(media="print")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(252, 252, 250)"
    assert page.locator("button:visible, input:visible, nav:visible").count() == 0
    assert page.pdf()[:5] == b"%PDF-"
