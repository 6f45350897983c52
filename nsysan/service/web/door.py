"""Logging in and out, the form for uploads, style and script, and how the server is."""

from __future__ import annotations

import re
import sqlite3

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nsysan import __version__
from nsysan.model.units import format_bytes
from nsysan.service.access import SESSION_S
from nsysan.service.addresses import parts_of_address
from nsysan.service.refusals import NotThere, Refusal
from nsysan.service.web.answers import json_answer, page_answer
from nsysan.service.web.bodies import form
from nsysan.service.web.run_pages import page_for
from nsysan.service.web.server import Server, server_of
from nsysan.service.web.views import LogInView, Page, UploadView, asset, asset_name
from nsysan.service.web.visitors import (
    address_of,
    check_form,
    check_site,
    cookie_name,
    demand_uploader,
    demand_visitor,
    person_with,
    visitor_of,
)

_TYPES = {"css": "text/css", "js": "text/javascript"}
_FOR_EVER = "public, max-age=31536000, immutable"


async def log_in_form(request: Request) -> Response:
    """``GET /login``: the form for a token."""
    if not server_of(request).needs_tokens or await visitor_of(request) is not None:
        return RedirectResponse("/", 303)
    return _log_in_answer(request.query_params.get("to", "/"), "", 200)


async def log_in(request: Request) -> Response:
    """``POST /login``: a session, where the token is right."""
    server, address = server_of(request), address_of(request)
    check_site(request)
    fields = await form(request, server.settings.uploads)
    leads_to = _own_path(fields.get("to", "/"))
    try:
        person = await person_with(server, fields.get("token", "").strip(), address)
    except Refusal as refusal:
        return _log_in_answer(leads_to, f"{refusal.message} {refusal.hint}", refusal.status)
    secret = await run_in_threadpool(server.access.begin_session, person)
    await run_in_threadpool(server.audit.record, person, address, "logged in")
    answer = RedirectResponse(leads_to, 303)
    answer.set_cookie(
        cookie_name(server), secret, int(SESSION_S), secure=server.is_https, httponly=True, samesite="lax", path="/"
    )
    return answer


async def log_out(request: Request) -> Response:
    """``POST /logout``: the session is over."""
    server, visitor = server_of(request), await demand_visitor(request)
    check_site(request)
    fields = await form(request, server.settings.uploads)
    check_form(request, visitor, fields.get("csrf"))
    if (cookie := request.cookies.get(cookie_name(server))) is not None:
        await run_in_threadpool(server.access.end_session, cookie)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(cookie_name(server), path="/", secure=server.is_https, httponly=True, samesite="lax")
    return answer


async def upload_form(request: Request) -> Response:
    """``GET /upload``: the form for files."""
    visitor, server = await demand_uploader(request), server_of(request)
    view = UploadView(format_bytes(server.settings.uploads.file_bytes), server.settings.discard_captures)
    return page_answer(page_for(visitor, server, "Upload", view), "upload.html")


async def give_asset(request: Request) -> Response:
    """``GET /assets/NAME``: style and script, which browsers keep."""
    name = request.path_params["name"]
    suffix = name.rpartition(".")[2]
    if suffix not in _TYPES or name != asset_name(suffix):
        raise NotThere("There is no such file.")
    return Response(asset(suffix), media_type=_TYPES[suffix], headers={"cache-control": _FOR_EVER})


async def health(request: Request) -> Response:
    """``GET /health``: 200 where the server can do its work, else 503 with what is wrong."""
    server = server_of(request)
    wrong = await run_in_threadpool(_wrong_with, server)
    state = {"status": wrong or "ok", "version": __version__}
    return json_answer(state, 503 if wrong else 200)


def _wrong_with(server: Server) -> str | None:
    if server.stopping.is_set():
        return "stopping"
    try:
        server.queue.waiting_count()
    except sqlite3.Error:
        return "ledger"
    return "disk" if server.folder.free_bytes() < server.settings.uploads.free_bytes else None


def _log_in_answer(leads_to: str, complaint: str, status: int) -> Response:
    return page_answer(Page("Log in", None, LogInView(complaint, _own_path(leads_to))), "login.html", status)


def _own_path(given: str) -> str:
    """The path of this server that is meant, its list where another server is."""
    parts = parts_of_address(given)
    is_own = parts is not None and not parts.scheme and not parts.netloc
    return given if is_own and re.fullmatch(r"/[\w./?&=%+-]*", given) and given[1:2] != "/" else "/"
