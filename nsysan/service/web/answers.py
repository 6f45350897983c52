"""Answers: pages for people, JSON for programs, and refusals in whichever of the two the client asked for."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from nsysan.service.refusals import Refusal
from nsysan.service.web.views import Page, RefusedView, draw

_RETRY_LATER = {429: "60", 503: "2"}
_CUT_OFF = (408, 411, 413, 503, 507)
"""Refused while a body was on its way: the connection is of no more use."""


def page_answer(page: Page, template: str, status: int = 200) -> HTMLResponse:
    """The page, drawn by this template."""
    return HTMLResponse(draw(page, template), status)


def json_answer(content: Any, status: int = 200) -> JSONResponse:
    """The content as JSON."""
    return JSONResponse(content, status)


def wants_page(request: Request) -> bool:
    """Whether the client is a browser that shows what it gets, and no program."""
    return "text/html" in request.headers.get("accept", "") and not request.scope["path"].startswith("/api/")


def refusal_answer(request: Request, refusal: Refusal) -> Response:
    """The refusal, with what its status asks for."""
    if wants_page(request):
        view = RefusedView(refusal.status, refusal.message, refusal.hint, leads_to_log_in=refusal.status == 401)  # noqa: PLR2004
        answer: Response = page_answer(Page(refusal.message, None, view), "refused.html", refusal.status)
    else:
        answer = json_answer({"error": refusal.message, "hint": refusal.hint}, refusal.status)
    if refusal.status in _RETRY_LATER:
        answer.headers["retry-after"] = _RETRY_LATER[refusal.status]
    if refusal.status == 401:  # noqa: PLR2004 - unauthorised
        answer.headers["www-authenticate"] = "Bearer"
    if refusal.status in _CUT_OFF:
        answer.headers["connection"] = "close"
    return answer
