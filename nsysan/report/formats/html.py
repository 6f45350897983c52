"""The page: one file, no network, and in it every section that has something to say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsysan import __version__
from nsysan.model.run import Run
from nsysan.report.elements import Term
from nsysan.report.environment import content_security_policy, inline_asset, page_environment, page_style
from nsysan.report.fills import Paint, patterns
from nsysan.report.prose import unbroken
from nsysan.report.renderers import Renderer
from nsysan.report.section import Layout, Section, Unanswered, sections
from nsysan.report.terms import TERMS
from nsysan.report.verdict import state_verdict, subject_of
from nsysan.report.viewer import viewer_of

if TYPE_CHECKING:
    from markupsafe import Markup

_LINKED_TERM = re.compile(r'href="#def-(\w+)"')  # text cannot imitate it: its quotes are escaped


@dataclass(frozen=True, slots=True)
class SectionFrame:
    """A section with its body already rendered."""

    id: str
    title: str
    question: str
    layout: str
    heading: str
    context: str | None
    body: Markup


@dataclass(frozen=True, slots=True)
class PageView:
    """All that the page's own template shows."""

    title: str
    generator: str
    policy: str
    style: Markup
    script: Markup
    patterns: Mapping[str, Paint]
    sections: tuple[SectionFrame, ...]
    definitions: tuple[Term, ...]
    colophon: str
    viewer: str


def render_page(run: Run) -> str:
    """The run as one self-contained HTML document; the same run gives the same bytes."""
    frames = tuple(frame for section in sections() if (frame := _frame(section, run)) is not None)
    style, script = page_style(), inline_asset("js")
    view = PageView(
        title=f"{subject_of(run)}: {state_verdict(run).sentence} | nsysan",
        generator=f"nsysan {__version__}",
        policy=content_security_policy(style, script),
        style=style,
        script=script,
        patterns=patterns(),
        sections=frames,
        definitions=_definitions(frames),
        colophon=f"nsysan {run.nsysan_version}, run.json schema {run.schema_version}, made {run.created_utc} (UTC)",
        viewer=viewer_of(run),
    )
    return page_environment().get_template("page.html").render(view=view) + "\n"


RENDERER = Renderer(".html", render_page)


def _frame(section: Section, run: Run) -> SectionFrame | None:
    from markupsafe import Markup

    view = section.build(run)
    if view is None:
        return None
    missing = isinstance(view, Unanswered)
    template = "unanswered.html" if missing else f"sections/{section.id}.html"
    body = page_environment().get_template(template).render(view=view)
    return SectionFrame(
        id=section.id,
        title=section.title,
        question=section.question,
        layout=(Layout.MARGIN if missing else section.layout).value,
        heading=unbroken(view.heading),
        context=None if view.context is None else unbroken(view.context),
        body=Markup(body),  # noqa: S704 - rendered just now, escaped
    )


def _definitions(frames: tuple[SectionFrame, ...]) -> tuple[Term, ...]:
    """The terms that a section leads to, in the order of the definitions."""
    linked = {term_id for frame in frames for term_id in _LINKED_TERM.findall(frame.body)}
    return tuple(term for term in TERMS.values() if term.id in linked)
