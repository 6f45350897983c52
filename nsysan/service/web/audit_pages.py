"""Who did what: the audit as a page, for those who may change things."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from nsysan.model.units import counted
from nsysan.service.audit import Deed
from nsysan.service.clock import shown_utc
from nsysan.service.people import Person
from nsysan.service.refusals import NotThere
from nsysan.service.runs import ServedRun
from nsysan.service.web.answers import page_answer
from nsysan.service.web.run_pages import first_asked, page_for
from nsysan.service.web.server import Server, server_of
from nsysan.service.web.views import AuditView, ShownDeed
from nsysan.service.web.visitors import demand_uploader

DEEDS_A_PAGE = 100


async def show_audit(request: Request) -> Response:
    """``GET /audit``: the deeds that this person may know of, of one run where ``?run=ID`` asks for it."""
    visitor, server = await demand_uploader(request), server_of(request)
    run_id, first = request.query_params.get("run", ""), first_asked(request)
    view = await run_in_threadpool(_audit_view, server, visitor.person, run_id, first)
    return page_answer(page_for(visitor, server, "Who did what", view), "audit.html")


def _audit_view(server: Server, person: Person, run_id: str, first: int) -> AuditView:
    deeds, total = server.audit.listed(person, run_id, first, DEEDS_A_PAGE)
    runs = {deed.subject: _run(server, person, deed.subject) for deed in deeds if deed.subject}
    return AuditView(
        heading=counted(total, "deed") + (" on this run" if run_id else ""),
        deeds=tuple(_shown(deed, runs.get(deed.subject)) for deed in deeds),
        run_id=run_id,
        newer=_address(run_id, max(first - DEEDS_A_PAGE, 0)) if first else None,
        older=_address(run_id, first + DEEDS_A_PAGE) if first + DEEDS_A_PAGE < total else None,
        shows_addresses=person.sees_every_team,
    )


def _shown(deed: Deed, run: ServedRun | None) -> ShownDeed:
    return ShownDeed(deed, shown_utc(deed.at_utc), run)


def _run(server: Server, person: Person, run_id: str) -> ServedRun | None:
    with suppress(NotThere):
        return server.runs.find(person, run_id)
    return None


def _address(run_id: str, first: int) -> str:
    asked = {"run": run_id, "first": str(first) if first else ""}
    return "/audit?" + urlencode({key: value for key, value in asked.items() if value})
