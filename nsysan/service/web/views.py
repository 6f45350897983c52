"""What each page shows, and the frame around it. Templates place this and do no arithmetic."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

import msgspec

from nsysan.report.environment import inline_asset, page_environment, page_style
from nsysan.service.audit import Deed
from nsysan.service.clock import shown_utc
from nsysan.service.people import Person
from nsysan.service.runs import RunFile, ServedRun, Sought
from nsysan.service.sharing import Share
from nsysan.service.web.figures import ShownFigure, figures_of

_ASSETS = "service/assets"


class Page(msgspec.Struct, frozen=True):
    """A page: its title, who looks at it (None: nobody who is known) with what their forms carry, and what it shows."""

    title: str
    person: Person | None
    view: object
    csrf: str = ""
    has_log_out: bool = False


class RefusedView(msgspec.Struct, frozen=True):
    """Why something is not shown or done."""

    status: int
    message: str
    hint: str
    leads_to_log_in: bool


class LogInView(msgspec.Struct, frozen=True):
    """The form for a token; ``complaint`` is what was wrong with the last one."""

    complaint: str
    leads_to: str


class UploadView(msgspec.Struct, frozen=True):
    """The form for files; ``limit`` says how large one may be."""

    limit: str
    discards: bool


class RunRow(msgspec.Struct, frozen=True):
    """A run in the list."""

    run: ServedRun
    figures: tuple[ShownFigure, ...]
    came: str


class ListView(msgspec.Struct, frozen=True):
    """Runs, what was sought, and the pages before and after."""

    rows: tuple[RunRow, ...]
    sought: Sought
    heading: str
    projects: tuple[str, ...]
    states: tuple[str, ...]
    figure_names: tuple[str, ...]
    newer: str | None
    older: str | None
    shows_teams: bool


class ShownFile(msgspec.Struct, frozen=True):
    """A file of a run, and whether this person may have it back."""

    file: RunFile
    size: str
    is_offered: bool


class ShownShare(msgspec.Struct, frozen=True):
    """A link that works, in words."""

    share: Share
    until: str


class RunView(msgspec.Struct, frozen=True):
    """A run: how far it is or what came of it, and what this person may do with it."""

    run: ServedRun
    heading: str
    facts: tuple[str, ...]
    figures: tuple[ShownFigure, ...]
    doing: str
    files: tuple[ShownFile, ...]
    shares: tuple[ShownShare, ...]
    new_link: str | None
    may_change: bool
    can_retry: bool


class ShownDeed(msgspec.Struct, frozen=True):
    """A deed in words; ``run`` is the run it was done to, as far as that is still there."""

    deed: Deed
    at: str
    run: ServedRun | None


class AuditView(msgspec.Struct, frozen=True):
    """Who did what, and the pages before and after; ``run_id`` is of the run asked about, empty for all."""

    heading: str
    deeds: tuple[ShownDeed, ...]
    run_id: str
    newer: str | None
    older: str | None
    shows_addresses: bool


class DeleteView(msgspec.Struct, frozen=True):
    """The question before a run is deleted."""

    run: ServedRun
    file_count: str


class Drawn(msgspec.Struct, frozen=True):
    """All that the frame's template shows."""

    page: Page
    view: object
    style: str
    script: str


def draw(page: Page, template: str) -> str:
    """The page as HTML."""
    drawn = Drawn(page, page.view, asset_name("css"), asset_name("js"))
    return page_environment().get_template(f"service/{template}").render(view=drawn) + "\n"


@cache
def asset(suffix: str) -> bytes:
    """The style sheet (``css``) or script (``js``) of these pages."""
    text = page_style() + inline_asset("css", _ASSETS) if suffix == "css" else inline_asset("js", _ASSETS)
    return str(text).encode()


@cache
def asset_name(suffix: str) -> str:
    """What the style sheet or script is called: another name for other content, so that browsers may keep it."""
    return f"{hashlib.sha256(asset(suffix)).hexdigest()[:16]}.{suffix}"


def rows_of(runs: Sequence[ServedRun]) -> tuple[RunRow, ...]:
    """The runs as rows of the list."""
    return tuple(RunRow(run, figures_of(run.summary), shown_utc(run.created_utc)) for run in runs)
