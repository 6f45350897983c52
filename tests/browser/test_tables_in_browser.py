"""Tables in Chromium: every one sorts and is copied as CSV, with the figures of the run and no formula in it."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.report.recorded import KERNELS
from tests.report.runs import full_run, run_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser


def copied(page: Page, table: str) -> list[list[str]]:
    """What the button of a table puts into the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    frame = page.locator(".table", has=page.locator(f"#{table}"))
    frame.get_by_role("button", name="Copy as CSV").click()
    frame.get_by_text("copied").wait_for()
    text: str = page.evaluate("navigator.clipboard.readText()")
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text)))


def test_figures_are_copied_in_their_unit_and_without_the_bars(open_page: OpenPage) -> None:
    page = open_page(full_run()).page

    assert copied(page, "largest-gaps")[:3] == [
        ["Begins at (ns)", "GPU", "lasts (ns)", "waited most for", "ran before", "ran after"],
        ["2125000000", "gpu1", "125000000", "the data loader", "sgemm", "ncclDevKernel_AllReduce"],
        ["2500000000", "gpu1", "125000000", "not recorded", "[memset]", "sgemm"],
    ]
    head, first, *_ = copied(page, "partition")
    assert dict(zip(head, first, strict=True)) == {
        "GPU": "gpu0",
        "compute only (ns)": "600000000",
        "overlapped (ns)": "100000000",
        "fused (ns)": "0",
        "opaque graph (ns)": "0",
        "exposed communication (ns)": "150000000",
        "exposed copy (ns)": "50000000",
        "idle (ns)": "100000000",
        "window (ns)": "1000000000",
    }


def test_what_was_searched_and_sorted_is_copied_so(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    page.locator("#largest-gaps-search").fill("gpu0")
    page.locator("#largest-gaps").get_by_role("button", name="Sort by lasts").click()
    page.locator("#largest-gaps").get_by_role("button", name="Sort by lasts").click()

    assert [row[2] for row in copied(page, "largest-gaps")[1:]] == ["25000000", "25000000", "50000000"]


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", 'a "b", c', "plain"])
def test_no_name_becomes_a_formula(open_page: OpenPage, name: str) -> None:
    kernels = replace(KERNELS, kernels=(replace(KERNELS.kernels[0], name=name),))
    page = open_page(run_of(kernels)).page

    shown = f"'{name}" if name[0] in "=+-@" else name
    assert copied(page, "kernel-names")[1][0] == shown


def test_every_table_of_several_rows_whose_order_says_nothing_sorts_by_every_column_that_is_no_bar(
    open_page: OpenPage,
) -> None:
    page = open_page(full_run()).page
    for table in page.locator("main table").all():
        rows, heads = table.locator("tbody tr").count(), table.locator("thead th:not(.bar-cell, [hidden])").count()
        is_ordered = table.get_attribute("data-ordered") is not None
        assert table.locator(".sort").count() == (heads if rows > 1 and not is_ordered else 0)


def test_numeric_columns_sort_by_value_in_both_directions(open_page: OpenPage) -> None:
    table = open_page(full_run()).page.locator("#largest-gaps")
    begins = table.locator("tbody th")

    table.get_by_role("button", name="Sort by Begins at").click()
    assert begins.all_inner_texts() == sorted(begins.all_inner_texts())
    table.get_by_role("button", name="Sort by Begins at").click()
    assert begins.all_inner_texts() == sorted(begins.all_inner_texts(), reverse=True)


def test_a_first_tap_shows_the_definition_and_a_second_leads_to_it(open_page: OpenPage) -> None:
    page = open_page(full_run()).page
    term = page.locator("#partition .term", has_text="overlapped")
    term.scroll_into_view_if_needed()
    box = term.bounding_box()
    assert box is not None
    touch = page.context.new_cdp_session(page)

    def tap() -> None:
        point = {"x": box["x"] + 5, "y": box["y"] + 5}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    tap()
    page.locator("#tip").wait_for()
    assert not page.url.endswith("#def-overlapped")
    tap()
    page.wait_for_url("**#def-overlapped")
