"""The page as a document: one file, sealed by its policy, sound in its links, and the same for the same run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from nsysan import __version__
from nsysan.analysis.gpu_time import StartUp
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.partition import PartTimes
from nsysan.model.run import Run
from nsysan.model.run_json import decode_run, encode_run
from nsysan.planning.throughput import LayoutRow
from nsysan.report.formats.html import render_page
from nsysan.report.section import sections
from nsysan.report.terms import TERMS
from tests.report.diagnosed import THROUGHPUT
from tests.report.gpu_times import device, gpu, gpu_time
from tests.report.inside import INSIDE, LAUNCHES, WAITS
from tests.report.pages import Page
from tests.report.runs import (
    HEADLINE,
    NO_VERDICT,
    RESULT_TYPES,
    RESULTS,
    bare_run,
    empty_run,
    full_run,
    run_of,
    skipped_run,
)

RUNS = [full_run, empty_run, skipped_run, bare_run]
every_run = pytest.mark.parametrize("make_run", RUNS)


@every_run
def test_every_link_leads_to_something_on_the_page_and_no_id_is_used_twice(make_run: Callable[[], Run]) -> None:
    page = Page(render_page(make_run()))

    assert len(page.ids) == len(set(page.ids))
    assert {link for link in page.links if not link.startswith("#")} == set()
    assert {link[1:] for link in page.links} <= set(page.ids)


@every_run
def test_the_policy_allows_exactly_the_style_and_the_script_of_the_page(make_run: Callable[[], Run]) -> None:
    page = Page(render_page(make_run()))

    assert page.meta("Content-Security-Policy") == (
        f"default-src 'none'; style-src '{sha256(page.raw['style'])}'; script-src '{sha256(page.raw['script'])}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert page.meta("referrer") == "no-referrer"


def sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@every_run
def test_nothing_in_the_page_loads_anything_or_runs_outside_the_script(make_run: Callable[[], Run]) -> None:
    page = Page(render_page(make_run()))
    attributes = {name for _, attributes in page.tags for name in attributes}

    assert attributes.isdisjoint({"src", "srcset", "style", "action", "data", "xlink:href"})
    assert not [name for name in attributes if name.startswith("on")]
    assert {tag for tag, _ in page.tags}.isdisjoint({"link", "img", "iframe", "object", "embed", "form", "base"})
    assert "url(http" not in page.raw["style"]
    assert "@import" not in page.raw["style"]


def test_our_own_pages_are_known_by_their_first_bytes() -> None:
    assert f'<meta name="generator" content="nsysan {__version__}">'.encode() in render_page(full_run()).encode()[:4096]


def test_the_same_run_gives_the_same_page_also_after_being_saved() -> None:
    run = full_run()

    assert render_page(run) == render_page(full_run())
    assert render_page(decode_run(encode_run(run), RESULT_TYPES)) == render_page(run)


def test_each_definition_a_figure_links_to_is_there_and_no_other() -> None:
    page = Page(render_page(full_run()))
    linked = {link.removeprefix("#def-") for link in page.links if link.startswith("#def-")}
    defined = {element_id.removeprefix("def-") for element_id in page.ids if element_id.startswith("def-")}

    assert defined == linked
    assert linked <= set(TERMS)


def test_every_definition_is_used_by_some_run() -> None:
    graph = gpu_time((gpu("gpu0", PartTimes(100, 0, 0, 100, 0, 0, 0)),))
    run = run_of(graph, *RESULTS[1:])
    rank = replace(run.reports[0], name="rank1.sqlite")
    several = replace(run, reports=(*run.reports, rank))
    excluded = replace(graph.devices[0], excluded_records={"no_time": 1})
    every_cause = IdleCauses(*[1] * len(Cause))
    waiting = gpu("gpu0", PartTimes(100, 0, 0, 0, 0, 0, len(Cause)), causes=every_cause)
    start_up = StartUp(9, every_cause)
    explained = gpu_time((waiting,), (replace(device("gpu0/p100", waiting), start_up=start_up),))
    with_excluded = run_of(replace(graph, devices=(excluded,)))
    layout = LayoutRow(None, 1, 1, 1, 1, 2, 10**9, None, None, 10**9)
    laid_out = run_of(replace(THROUGHPUT, throughput=replace(THROUGHPUT.throughput, layouts=(layout,))))
    runs = (full_run(), run, several, with_excluded, run_of(explained), run_of(*INSIDE, LAUNCHES, WAITS), laid_out)
    links = {
        link.removeprefix("#def-")
        for each in runs
        for link in Page(render_page(each)).links
        if link.startswith("#def-")
    }

    assert links == set(TERMS)


def test_the_title_and_the_heading_state_the_headline_where_there_is_one() -> None:
    run = replace(full_run(), diagnosis=replace(NO_VERDICT, headline=HEADLINE, why=None))
    page = Page(render_page(run))

    assert page.raw["title"] == f"rank0.sqlite: {HEADLINE.sentence} | nsysan"
    assert HEADLINE.sentence in page.text("verdict")


def test_sections_stand_in_reading_order_and_in_the_navigation() -> None:
    page = Page(render_page(full_run()))
    expected = [section.id for section in sections()]
    shown = [attributes["id"] for tag, attributes in page.tags if tag == "section"]

    assert shown == [*expected, "definitions"]
    assert set(expected) <= {link[1:] for link in page.links}
    assert expected[:3] == ["verdict", "figures", "time"]


@every_run
def test_every_table_has_a_caption_scopes_and_a_focusable_frame(make_run: Callable[[], Run]) -> None:
    page = Page(render_page(make_run()))
    tables = [attributes["id"] for tag, attributes in page.tags if tag == "table"]
    frames = [attributes for tag, attributes in page.tags if attributes.get("class") == "scroll"]

    assert [frame["aria-labelledby"] for frame in frames] == [f"{table}-caption" for table in tables]
    assert all(frame["tabindex"] == "0" and frame["role"] == "region" for frame in frames)
    assert all(page.text(f"{table}-caption") for table in tables)
    assert all(attributes.get("scope") in ("row", "col") for tag, attributes in page.tags if tag == "th")


@every_run
def test_every_chart_says_in_words_what_it_shows_or_is_hidden_from_readers(make_run: Callable[[], Run]) -> None:
    for tag, attributes in Page(render_page(make_run())).tags:
        if tag == "svg":
            spoken = attributes.get("role") in ("img", "group") and attributes.get("aria-label")
            assert spoken or attributes.get("aria-hidden") == "true"


def test_a_page_of_a_thousand_gpus_stays_small_and_says_what_it_leaves_out() -> None:
    times = gpu_time([gpu(f"gpu{index}", PartTimes(1024 + index, 0, 0, 0, 0, 0, 1024)) for index in range(1024)])
    html = render_page(run_of(times))

    assert len(html) < 200_000
    assert "the GPU that computes most and the 15 that compute least, of 1,024; run.json holds all." in html
    assert [row[0] for row in Page(html).rows("gpu-bars")[1:]] == ["gpu1023", *(f"gpu{index}" for index in range(15))]
