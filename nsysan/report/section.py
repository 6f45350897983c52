"""What a section of the page is: a question, and how a run answers it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

import msgspec

from nsysan.model.registry import discover
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.report.prose import capitalized, ended, spelled

Subject = TypeVar("Subject")


class Layout(str, Enum):
    """Where a section's heading stands; the values are classes of the style sheet."""

    MARGIN = "margin"
    """In the margin column, beside charts and narrow tables."""
    WIDE = "wide"
    """Above, so that tables have the full width."""
    OPEN = "open"
    """Within the template, which then brings its own heading."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a template shows, ready to be written: ``heading`` states the conclusion, ``context`` how to read it."""

    heading: str
    context: str | None = None


class Unanswered(View, frozen=True):
    """The view of a section whose result was skipped: why, and what to record to have it answered."""

    reason: str
    recapture: str | None


class Section(msgspec.Struct, Generic[Subject], frozen=True):
    """A section of the page: ``title`` in the navigation, ``question`` above the heading that ``build`` finds.

    ``build`` returns None where the section has no place on the page of this subject, which is a run on most pages. The
    template is ``sections/<id>.html`` unless ``template`` names another.
    """

    id: str
    order: int
    title: str
    question: str
    build: Callable[[Subject], View | None]
    layout: Layout = Layout.MARGIN
    template: str | None = None


def sections() -> tuple[Section[Run], ...]:
    """Every section of the page, in reading order."""
    from nsysan.report import sections as package

    return tuple(sorted(discover(package, "SECTION", Section), key=lambda section: section.order))


def unanswered(skipped: Skipped, subject: str) -> Unanswered:
    """The view that says why there is nothing to show about ``subject``."""
    return Unanswered(
        heading=f"This run cannot say {subject}",
        reason=ended(capitalized(skipped.reason)),
        recapture=None if skipped.recapture is None else ended(skipped.recapture),
    )


def question_of(skipped: Skipped) -> str:
    """What was asked, from the id of the result: ``Kernel summary``, ``GPU time``."""
    return capitalized(spelled(skipped.id).replace("gpu", "GPU"))
