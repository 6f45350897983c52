"""The pages of a real server in a real browser: upload, progress, report in its sandbox, sharing, deleting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from nsysan.report.formats.html import render_page
from nsysan.service.work.order import FIGURES
from nsysan.synth.export import Export
from tests.report.runs import full_run
from tests.report.test_hostile import PAYLOADS, hostile_run
from tests.service.conftest import PEOPLE, finish_a_run, give_token
from tests.service.running import Running, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

HOSTILE = "".join(PAYLOADS)
SUMMARY = {
    "sentence": "The GPUs computed for 61.0 % of the window; they waited for the host to launch work for 20.1 %",
    "figures": dict(zip(FIGURES, (12_345.6, 0.61, None, 0.038, 1_234_567.0, 34_123_456_789), strict=True)),
    "unknown": {"mfu": HOSTILE},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server for this machine alone, with one finished run."""
    data = tmp_path_factory.mktemp("server") / "data"
    finish_a_run(data, render_page(full_run()), SUMMARY)
    with serving(data) as running:
        yield running


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A small report: two kernels."""
    export = Export().session(utc_epoch_ns=1).nvtx(0, 60_000, "loop")
    return export.kernel(10_000, 40_000, "first").kernel(50_000, 90_000, "second").write(tmp_path / "rank0.sqlite")


class Visit:
    """A page at a server, with what it asked for elsewhere and complained about."""

    def __init__(self, browser: Browser, server: Running, width: int, theme: Literal["light", "dark"]) -> None:
        self._context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
        self.url = server.url
        self._context.set_default_timeout(20_000)
        self.page: Page = self._context.new_page()
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def _note(self, url: str) -> None:
        if not url.startswith((f"{self.url}/", "data:")):
            self.foreign.append(url)

    def go(self, path: str) -> Page:
        """The page at this path."""
        self.page.goto(self.url + path)
        return self.page

    def close(self) -> None:
        """Leave."""
        self._context.close()


@pytest.fixture
def visit(browser: Browser, server: Running) -> Iterator[Visit]:
    """A visit that must neither ask elsewhere nor complain."""
    made = Visit(browser, server, 1280, "light")
    yield made
    made.close()
    assert (made.foreign, made.complaints) == ([], [])


def test_a_report_is_uploaded_followed_read_shared_and_deleted(visit: Visit, report: Path, server: Running) -> None:
    page = visit.go("/upload")
    page.fill("#title", HOSTILE)
    page.fill("#labels", "one, two")
    page.click("summary")
    page.fill("#ranks", "rank0.sqlite=1")
    page.set_input_files("#files", report)
    page.click("main button")
    page.wait_for_url("**/runs/*")

    page.wait_for_selector("text=Read the report", timeout=60_000)
    assert "The GPU computed for 87.5 %" in page.inner_text("h1")
    assert page.inner_text(".subject strong").startswith("<script>") or "<" in page.inner_text(".subject strong")
    run_url = page.url
    page.click("text=Read the report")
    page.wait_for_url("**/report")
    assert "rank0" in page.inner_text("main")
    page.go_back()
    assert page.url == run_url

    page.fill("#days", "3")
    page.click("text=Make a link")
    link = page.input_value("#link")
    assert server.ask("GET", link.removeprefix(server.url)).status == 200
    page.click("button:text-is('Revoke')")
    assert server.ask("GET", link.removeprefix(server.url)).status == 404

    page.click("text=Who did what")
    assert page.inner_text("h1") == "3 deeds on this run"
    assert page.locator("tbody tr td:nth-child(3)").all_inner_texts() == ["revoked link", "shared", "uploaded"]
    page.go_back()

    page.click("a:text-is('Delete')")
    page.click("text=Keep it")
    assert page.url == run_url
    page.click("a:text-is('Delete')")
    page.click("text=Delete it")
    assert page.inner_text("h1") == "1 run"


def test_a_piece_that_is_lost_is_sent_again_and_a_dropped_file_is_taken(browser: Browser, server: Running) -> None:
    made = Visit(browser, server, 1280, "light")
    page, lost = made.go("/upload"), []

    def lose_first(route: object) -> None:
        lost.append(route)
        route.abort() if len(lost) == 1 else route.continue_()  # type: ignore[attr-defined]  # playwright's own

    page.route(
        "**/api/uploads/*", lambda route: lose_first(route) if route.request.method == "PATCH" else route.continue_()
    )
    files = page.evaluate_handle(
        "() => { const data = new DataTransfer(); data.items.add(new File(['not a report'], 'a b.txt')); return data; }"
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": files})
    page.click("main button")
    page.wait_for_selector("text=a b.txt is no Nsight Systems report", timeout=60_000)

    assert len(lost) == 2
    assert page.is_visible("text=Analyse again")
    run_id = page.url.rpartition("/")[2]
    made.close()
    server.ask("DELETE", f"/api/runs/{run_id}")


def test_a_run_is_found_by_search_and_the_address_keeps_it(visit: Visit) -> None:
    page = visit.go("/")
    page.fill("#q", "ANNA")
    page.click("text=Show")
    assert page.inner_text("h1") == "1 run found"
    assert page.url.endswith("/?q=ANNA&project=&state=")
    page.fill("#q", "nobody")
    page.click("text=Show")
    assert page.inner_text("h1") == "0 runs found"
    page.go_back()
    assert page.inner_text("h1") == "1 run found"


def test_a_report_reaches_nothing_of_the_server_even_if_its_script_would(browser: Browser, server: Running) -> None:
    made = Visit(browser, server, 1280, "light")
    page = made.go("/")
    page.click("text=report")
    page.wait_for_url("**/report")

    assert page.evaluate("origin") == "null"
    assert page.evaluate("fetch('/api/runs').then(() => 'reached', () => 'blocked')") == "blocked"
    assert page.evaluate("(() => { try { return document.cookie } catch { return 'blocked' } })()") == "blocked"
    made.close()


def test_without_the_script_a_form_uploads_as_well(browser: Browser, server: Running, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.url}/upload")
    page.set_input_files("#files", report)
    page.click("main button")
    page.wait_for_url("**/runs/*")
    assert page.inner_text(".subject strong") == "rank0.sqlite"
    server.ask("DELETE", f"/api/runs/{page.url.rpartition('/')[2]}")
    context.close()


def test_a_token_lets_in_and_the_way_leads_back(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "data"
    run_id = finish_a_run(data, render_page(hostile_run(HOSTILE)), SUMMARY)
    token = give_token(data, PEOPLE["rita"])
    with serving(data, "--require-tokens") as server:
        made = Visit(browser, server, 375, "dark")
        page = made.go(f"/runs/{run_id}")
        page.fill("#token", "wrong")
        page.click("main button")
        assert "The token is not known" in page.inner_text("#complaint")
        page.fill("#token", token)
        page.click("main button")
        assert page.url == f"{server.url}/runs/{run_id}"
        assert not page.is_visible("a:text-is('Delete')")
        page.click("text=Read the report")
        page.wait_for_url("**/report")
        made.go("/")
        page.click("text=Log out rita")
        assert page.url == f"{server.url}/login"
        assert [complaint for complaint in made.complaints if "401" not in complaint] == []
        made.close()


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (768, "light"), (375, "dark")])
def test_axe_finds_nothing_and_nothing_hangs_over(
    browser: Browser, server: Running, width: int, theme: Literal["light", "dark"]
) -> None:
    made = Visit(browser, server, width, theme)
    (run,) = [run for run in server.ask("GET", "/api/runs").said["runs"] if run["title"] == "anna's run"]
    for path in ("/", "/?q=nothing", "/upload", "/audit", run["path"], f"{run['path']}/delete", "/nothing"):
        page = made.go(path)
        found = Axe().run(page).response["violations"]
        assert [(path, entry["id"], [node["html"] for node in entry["nodes"]]) for entry in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), path
    made.close()
