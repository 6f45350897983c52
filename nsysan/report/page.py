"""The document that every page is: sections with something to say, definitions, one style and one script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from nsysan import __version__
from nsysan.report.elements import Term
from nsysan.report.environment import content_security_policy, inline_asset, page_environment, page_style
from nsysan.report.fills import Paint, patterns
from nsysan.report.prose import unbroken
from nsysan.report.section import Layout, Section, Subject, Unanswered, View
from nsysan.report.terms import TERMS

if TYPE_CHECKING:
    from markupsafe import Markup

_LINKED_TERM = re.compile(r'href="#def-(\w+)"')  # text cannot imitate it: its quotes are escaped


class Footing(msgspec.Struct, frozen=True):
    """What stands below a page: what made it, whose times it shows, and the command that draws it again."""

    colophon: str
    viewer: str
    command: str


class SectionFrame(msgspec.Struct, frozen=True):
    """A section with its body already rendered."""

    id: str
    title: str
    question: str
    layout: str
    heading: str
    context: str | None
    body: Markup


class PageView(msgspec.Struct, frozen=True):
    """All that the page's own template shows."""

    title: str
    generator: str
    policy: str
    style: Markup
    script: Markup
    patterns: Mapping[str, Paint]
    sections: tuple[SectionFrame, ...]
    definitions: tuple[Term, ...]
    footing: Footing


def draw_page(title: str, sections: Iterable[Section[Subject]], subject: Subject, footing: Footing) -> str:
    """The subject as one self-contained HTML document; the same subject gives the same bytes."""
    frames = tuple(_frame(section, view) for section, view in _shown(sections, subject))
    style, script = page_style(), inline_asset("js")
    view = PageView(
        title=f"{title} | nsysan",
        generator=f"nsysan {__version__}",
        policy=content_security_policy(style, script),
        style=style,
        script=script,
        patterns=patterns(),
        sections=frames,
        definitions=_definitions(frames),
        footing=footing,
    )
    return page_environment().get_template("page.html").render(view=view) + "\n"


def _shown(sections: Iterable[Section[Subject]], subject: Subject) -> Iterator[tuple[Section[Subject], View]]:
    """Each section that has something to say; what is unanswered for one reason is told once."""
    told = set()
    for section in sections:
        view = section.build(subject)
        if isinstance(view, Unanswered):
            why = (view.reason, view.recapture)
            if why in told:
                continue
            told.add(why)
        if view is not None:
            yield section, view


def _frame(section: Section[Subject], view: View) -> SectionFrame:
    from markupsafe import Markup

    missing = isinstance(view, Unanswered)
    template = "unanswered.html" if missing else section.template or f"sections/{section.id}.html"
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
