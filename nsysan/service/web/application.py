"""Which address leads where, and what becomes of errors on the way."""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from nsysan.model.errors import NsysanError
from nsysan.service.refusals import NoRoom, Refusal
from nsysan.service.web import audit_pages, door, events, run_pages, uploading
from nsysan.service.web.answers import refusal_answer, wants_page
from nsysan.service.web.front import Front
from nsysan.service.web.server import Server

_LOG = logging.getLogger("nsysan.service.web")
_FULL = NoRoom("The server's disk is full.", "Ask whoever runs it to make room, then try again.")

ROUTES = [
    Route("/", run_pages.list_runs),
    Route("/upload", door.upload_form, methods=["GET"]),
    Route("/upload", uploading.take_form, methods=["POST"]),
    Route("/upload/{name:path}", uploading.put_file, methods=["PUT"]),
    Route("/runs/{run_id}", run_pages.show_run),
    Route("/runs/{run_id}/report", run_pages.show_report),
    Route("/runs/{run_id}/run.json", run_pages.give_run_json),
    Route("/runs/{run_id}/files/{place:int}", run_pages.give_file),
    Route("/runs/{run_id}/events", events.stream),
    Route("/runs/{run_id}/delete", run_pages.ask_to_delete, methods=["GET"]),
    Route("/runs/{run_id}/delete", run_pages.delete, methods=["POST"]),
    Route("/runs/{run_id}/cancel", run_pages.cancel, methods=["POST"]),
    Route("/runs/{run_id}/retry", run_pages.retry, methods=["POST"]),
    Route("/runs/{run_id}/shares", run_pages.share, methods=["POST"]),
    Route("/runs/{run_id}/shares/{share_id}/revoke", run_pages.revoke, methods=["POST"]),
    Route("/audit", audit_pages.show_audit),
    Route("/s/{secret}", run_pages.show_shared),
    Route("/login", door.log_in_form, methods=["GET"]),
    Route("/login", door.log_in, methods=["POST"]),
    Route("/logout", door.log_out, methods=["POST"]),
    Route("/assets/{name}", door.give_asset),
    Route("/health", door.health),
    Route("/api/uploads", uploading.announce, methods=["POST"]),
    Route("/api/uploads/{upload_id}", uploading.look, methods=["GET"]),
    Route("/api/uploads/{upload_id}", uploading.go_on, methods=["PATCH"]),
    Route("/api/uploads/{upload_id}", uploading.give_up, methods=["DELETE"]),
    Route("/api/runs", run_pages.list_as_json, methods=["GET"]),
    Route("/api/runs", uploading.use, methods=["POST"]),
    Route("/api/runs/{run_id}", run_pages.run_json_state, methods=["GET"]),
    Route("/api/runs/{run_id}", run_pages.delete, methods=["DELETE"]),
]


def build_application(server: Server, beside: Callable[[], Any]) -> Starlette:
    """The application; ``beside`` is a context in which the server lives."""

    @asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncIterator[None]:
        async with beside():
            yield

    application = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Front, server=server)],
        exception_handlers={
            NsysanError: _refused,
            HTTPException: _unknown,
            sqlite3.OperationalError: _ledger_failed,
            OSError: _system_failed,
            ClientDisconnect: _left,
            Exception: _failed,
        },
        lifespan=lifespan,
    )
    application.state.server = server
    return application


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, NsysanError)
    refusal = error if isinstance(error, Refusal) else Refusal(error.message, error.hint)
    if refusal.status == 401 and wants_page(request) and request.method == "GET":  # noqa: PLR2004 - unauthorised
        return RedirectResponse(f"/login?to={quote(request.scope['path'])}", 303)
    return refusal_answer(request, refusal)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    there_is_none = error.status_code == 404  # noqa: PLR2004 - not found
    message = "There is nothing at this address." if there_is_none else "That cannot be done at this address."
    return refusal_answer(request, Refusal(message, "Begin at the list of runs.", status=error.status_code))


async def _ledger_failed(request: Request, error: Exception) -> Response:
    if "full" in str(error):
        return refusal_answer(request, _FULL)
    return await _failed(request, error)


async def _system_failed(request: Request, error: Exception) -> Response:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return refusal_answer(request, _FULL)
    return await _failed(request, error)


async def _left(_request: Request, _error: Exception) -> Response:
    return Response(status_code=499)


async def _failed(request: Request, error: Exception) -> Response:
    _LOG.error("failed", exc_info=error, extra={"path": request.scope["path"].partition("/s/")[0]})
    return refusal_answer(
        request, Refusal("The server failed on a fault of its own.", "Its log says more.", status=500)
    )
