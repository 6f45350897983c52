"""What holds for every section, and for every format: each has its template or module and works on any run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import pytest

from nsysan.model.run import Run
from nsysan.report.environment import page_environment
from nsysan.report.formats.html import render_page
from nsysan.report.formats.text import render_text
from nsysan.report.renderers import renderer_ids, renderers
from nsysan.report.section import Section, Unanswered, View, sections
from tests.report.pages import Page, squeezed
from tests.report.runs import bare_run, empty_run, full_run, skipped_run

RUNS = [full_run, empty_run, skipped_run, bare_run]
every_section = pytest.mark.parametrize("section", sections(), ids=lambda section: section.id)
every_run = pytest.mark.parametrize("make_run", RUNS)


def test_each_section_has_a_template_of_its_name_and_each_template_a_section() -> None:
    templates = page_environment().list_templates(filter_func=lambda name: name.startswith("sections/"))

    assert sorted(templates) == sorted(f"sections/{section.id}.html" for section in sections())


def test_ids_and_places_of_sections_are_their_own() -> None:
    assert len({section.id for section in sections()}) == len(sections())
    assert len({section.order for section in sections()}) == len(sections())


@every_section
@every_run
def test_a_section_states_a_conclusion_or_keeps_silent(section: Section[Run], make_run: Callable[[], Run]) -> None:
    view = section.build(make_run())

    assert view is None or view.heading.strip()


@every_section
@every_run
def test_a_section_is_on_the_page_exactly_where_it_has_something_to_say(
    section: Section[Run], make_run: Callable[[], Run]
) -> None:
    run = make_run()
    view, page = section.build(run), Page(render_page(run))
    before = takewhile(lambda other: other.id != section.id, sections())
    # what is unanswered for one reason is told once
    is_told = isinstance(view, Unanswered) and _why(view) in [_why(other.build(run)) for other in before]

    assert (section.id in page.ids) == (view is not None and not is_told)
    assert view is None or is_told or squeezed(view.heading) in page.text(section.id)


def _why(view: View | None) -> tuple[str, str | None] | None:
    return (view.reason, view.recapture) if isinstance(view, Unanswered) else None


@pytest.mark.parametrize("section_id", ["figures", "time", "steps", "gaps", "timeline", "ranges", "kernels", "copies"])
def test_a_section_whose_result_was_skipped_says_why_and_what_would_record_it(section_id: str) -> None:
    section = next(section for section in sections() if section.id == section_id)
    view = section.build(skipped_run())

    assert isinstance(view, Unanswered)
    assert view.heading.startswith("This run cannot say ")
    assert (view.reason, view.recapture) == ("The trace holds no GPU work.", "Record CUDA: --trace=cuda.")


def test_formats_are_named_after_their_modules() -> None:
    assert renderer_ids() == tuple(renderers())
    assert (renderers()["html"].render, renderers()["text"].render) == (render_page, render_text)


@pytest.mark.parametrize("format_id", renderer_ids())
@every_run
def test_a_format_writes_any_run_and_the_same_twice(format_id: str, make_run: Callable[[], Run]) -> None:
    renderer = renderers()[format_id]

    assert renderer.suffix.startswith(".")
    assert renderer.render(make_run()).endswith("\n")
    assert renderer.render(make_run()) == renderer.render(make_run())
