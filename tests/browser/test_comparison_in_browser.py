"""The page of a comparison in a real browser: nothing asked for, nothing complained about, nothing for axe to find."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from nsysan.history.comparison import Comparison
from tests.report.comparisons import empty_comparison, full_comparison
from tests.report.test_hostile import PAYLOADS

if TYPE_CHECKING:
    from typing import Literal

    from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser


def hostile() -> Comparison:
    """Every field holds every payload."""
    return full_comparison("".join(PAYLOADS))


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (768, "dark"), (375, "light"), (375, "dark")])
@pytest.mark.parametrize("make", [full_comparison, empty_comparison, hostile])
def test_the_page_is_quiet_sound_and_as_wide_as_the_window(
    open_page: OpenPage, make: Callable[[], Comparison], width: int, theme: Literal["light", "dark"]
) -> None:
    opened = open_page(make(), width=width, theme=theme)

    violations = Axe().run(opened.page).response["violations"]
    assert [(entry["id"], [node["html"] for node in entry["nodes"]]) for entry in violations] == []
    assert (opened.requests, opened.complaints, opened.dialogs) == ([opened.page.url], [], [])
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
