"""How the page looks and reads: axe-core finds nothing, and it looks as it did at three widths and in two themes.

The references are an eighth as wide as the page and compared with a tolerance, so that another version of Chromium or
of a font passes and a lost chart does not. NSYSAN_UPDATE_GOLDEN=1 writes them anew: look at them then.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from nsysan.model.run import Run
from tests.report.comparisons import full_comparison
from tests.report.runs import empty_run, full_run, skipped_run
from tests.report.test_hostile import PAYLOADS, hostile_run

if TYPE_CHECKING:
    from typing import Literal

    from playwright.sync_api import Page

    from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

REFERENCES = Path(__file__).with_name("references")
WIDTHS = [1280, 768, 375]
THEMES: list[Literal["light", "dark"]] = ["light", "dark"]
SECTIONS = ["verdict", "time", "causes", "steps", "timeline"]
COMPARED_SECTIONS = ["verdict", "time", "kernels", "findings", "figures"]
PICTURES = Path(__file__).with_name("pictures.js")
MOST_ROWS = 20
"""So much taller or lower a page may be, in pixels of the reference."""
MEAN_PARTS, BLOCK_PARTS = 8, 45
"""Of 255, how far colours may be off: over the picture, and over the worst of its blocks of 8 by 8 pixels."""


def hostile() -> Run:
    """Every field holds every payload."""
    return hostile_run("".join(PAYLOADS))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("make_run", [full_run, empty_run, skipped_run, hostile])
def test_axe_finds_nothing(open_page: OpenPage, make_run: Callable[[], Run], theme: Literal["light", "dark"]) -> None:
    opened = open_page(make_run(), theme=theme)

    found = Axe().run(opened.page).response["violations"]

    assert [(entry["id"], [node["html"] for node in entry["nodes"]]) for entry in found] == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_looks_as_it_did(open_page: OpenPage, width: int, theme: Literal["light", "dark"]) -> None:
    page = open_page(full_run(), width=width, theme=theme, folded=True).page

    _hold_against(page, SECTIONS, f"{width}-{theme}")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_a_comparison_looks_as_it_did(
    open_page: OpenPage, width: int, theme: Literal["light", "dark"]
) -> None:
    page = open_page(full_comparison(), width=width, theme=theme, folded=True).page

    _hold_against(page, COMPARED_SECTIONS, f"comparison-{width}-{theme}")


def _hold_against(page: Page, sections: list[str], name: str) -> None:
    """Sections of a page against their reference picture, which is written first where that is wanted."""
    page.emulate_media(reduced_motion="reduce")
    # what sticks to the top of the window would be wherever the shot was taken
    page.evaluate("document.querySelector('.bar').hidden = true")
    shots = [_shot(page, section) for section in sections]
    blank = page.context.new_page()
    blank.add_script_tag(path=PICTURES)
    shown: str = blank.evaluate("shots => shrunk(shots)", shots)
    reference = REFERENCES / f"{name}.webp"
    if os.environ.get("NSYSAN_UPDATE_GOLDEN"):
        reference.parent.mkdir(exist_ok=True)
        reference.write_bytes(base64.b64decode(shown))

    kept = base64.b64encode(reference.read_bytes()).decode()
    taller, mean, worst = blank.evaluate("([one, other]) => difference(one, other)", [shown, kept])

    assert taller <= MOST_ROWS
    assert mean <= MEAN_PARTS
    assert worst <= BLOCK_PARTS


def _shot(page: Page, section: str) -> str:
    return base64.b64encode(page.locator(f"#{section}").screenshot()).decode()
