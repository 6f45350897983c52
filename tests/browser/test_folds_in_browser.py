"""What is folded: closed on a first look, opened by hand and by links that lead into it, and all there in print."""

from __future__ import annotations

import pytest

from tests.browser.conftest import FOLDS, OpenPage
from tests.browser.test_page_in_browser import many_kernels
from tests.report.runs import full_run

pytestmark = pytest.mark.browser

UNSEEN = """(selector) => [...document.querySelectorAll(selector)]
  .filter((one) => !one.checkVisibility()).map((one) => one.id)"""
MOST_SCREENS = 22
"""So many windows of 900 pixels a page that holds everything is long when it opens."""


def test_a_page_opens_short_and_what_is_folded_opens_by_hand(open_page: OpenPage) -> None:
    page = open_page(full_run(), folded=True).page
    partition = page.locator("#partition")

    assert page.evaluate("document.documentElement.scrollHeight") <= MOST_SCREENS * 900
    assert page.locator(FOLDS).evaluate_all("folds => folds.filter((fold) => fold.open).length") == 0
    assert partition.is_hidden()
    page.locator("#time summary", has_text="exact times").click()
    assert partition.is_visible()
    # the table's controls are one stop, as in any other
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('table').id") == "partition"


def test_a_link_to_a_definition_opens_the_definitions(open_page: OpenPage) -> None:
    page = open_page(full_run(), folded=True).page

    page.locator("#figures .term", has_text="Compute busy").click()

    assert page.locator("#def-compute_busy").is_visible()
    assert page.url.endswith("#def-compute_busy")


def test_in_print_every_table_is_open_with_all_its_rows(open_page: OpenPage) -> None:
    page = open_page(many_kernels(), folded=True).page
    everything = open_page(full_run(), folded=True).page
    for each in (page, everything):
        each.emulate_media(media="print")

    assert page.locator("#kernel-names tbody tr:visible").count() == 60
    assert everything.evaluate(UNSEEN, "main table, #definitions dl") == []
