"""A real browser, and a page opened in it from disk with everything it does recorded."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from nsysan.history.comparison import Comparison
from nsysan.model.run import Run
from nsysan.report.comparison.page import render_page as render_comparison
from nsysan.report.formats.html import render_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Route

FOLDS = ".numbers > details, .more, #definitions > details"
"""What is closed until somebody asks for it."""
UNFOLD = f"document.querySelectorAll('{FOLDS}').forEach((fold) => {{ fold.open = true; }})"

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Opened:
    """A page in the browser, with what it asked for and complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


OpenPage = Callable[..., Opened]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium; skips where there is none."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is on the PATH")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    """Opens the page of a run or comparison from disk, at a width and in a theme, and cuts off any further request.

    Its tables are unfolded, unless it is wanted as it is found.
    """
    contexts = []

    def open_run(
        shown: Run | Comparison,
        *,
        width: int = 1280,
        theme: Literal["light", "dark"] = "light",
        folded: bool = False,
    ) -> Opened:
        path = tmp_path / "page.html"
        page = render_page(shown) if isinstance(shown, Run) else render_comparison(shown)
        path.write_text(page, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        contexts.append(context)
        opened = Opened(context.new_page())
        _record(opened, path.as_uri())
        opened.page.goto(path.as_uri())
        if not folded:
            opened.page.evaluate(UNFOLD)
        return opened

    yield open_run
    for context in contexts:
        context.close()


def _record(opened: Opened, address: str) -> None:
    def handle(route: Route) -> None:
        opened.requests.append(route.request.url)
        if route.request.url == address:
            route.continue_()
        else:
            route.abort()

    def dismiss(dialog: Dialog) -> None:
        opened.dialogs.append(dialog.message)
        dialog.dismiss()

    opened.page.route("**/*", handle)
    opened.page.on("console", lambda message: opened.complaints.append(message.text))
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.on("dialog", dismiss)
