"""What every request passes first and every answer last: hosts, rates, headers, and a line in the log."""

from __future__ import annotations

import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nsysan.service.addresses import parts_of_address
from nsysan.service.refusals import Refusal
from nsysan.service.web.answers import refusal_answer
from nsysan.service.web.server import Server, is_loopback
from nsysan.service.web.visitors import address_of

_LOG = logging.getLogger("nsysan.service.requests")
_PROXIED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_SHARED = "/s/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, a browser's own forms would come from "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "private, no-cache",
}
"""Of every answer that does not set them itself."""


class Front:
    """The outermost layer of the application."""

    def __init__(self, application: ASGIApp, server: Server) -> None:
        self._application = application
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        begin_s, status, sent_bytes = time.monotonic(), 500, 0

        async def send_guarded(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(message)
            else:
                sent_bytes += len(message.get("body", b""))
            await send(message)

        try:
            refused = self._refused(Request(scope))
            await (refused or self._application)(scope, receive, send_guarded)
        finally:
            _log(scope, status, sent_bytes, time.monotonic() - begin_s)

    def _refused(self, request: Request) -> Response | None:
        try:
            self._check(request)
        except Refusal as refusal:
            return refusal_answer(request, refusal)
        return None

    def _check(self, request: Request) -> None:
        if len(self._server.connections) > self._server.settings.rates.connections:
            raise Refusal("Too many connections are open.", "Try again in a moment.", status=503)
        if parts_of_address(f"//{request.headers.get('host', '')}") is None:
            raise Refusal("The request names no host that there can be.", "Open the server by its address.")
        # pieces of uploads have limits of their own: a large file on a fast network is thousands of them
        if request.method != "PATCH" and not self._server.requests.take(address_of(request)):
            raise Refusal("Too many requests come from here.", "Wait a minute.", status=429)
        if self._server.needs_tokens:
            return
        # a page elsewhere whose name was made to lead here, and a proxy that would let anybody in
        if not is_loopback(request.headers.get("host", "")):
            raise Refusal("This server is for this machine alone.", "Open it as 127.0.0.1.", status=421)
        if any(name in request.headers for name in _PROXIED):
            raise Refusal(
                "This server lets everybody in, so it answers no proxy.",
                "Start it with --public-url, and make tokens.",
                status=403,
            )

    def _add_headers(self, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        if self._server.is_https:
            headers.setdefault("strict-transport-security", "max-age=31536000")


def _log(scope: Scope, status: int, sent_bytes: int, took_s: float) -> None:
    path = scope["path"]
    _LOG.info(
        "request",
        extra={
            "method": scope["method"],
            # what follows is the secret
            "path": f"{_SHARED}..." if path.startswith(_SHARED) else path,
            "status": status,
            "sent_bytes": sent_bytes,
            "took_ms": round(1000 * took_s, 1),
            "address": scope["client"][0] if scope.get("client") else None,
            "agent": Headers(scope=scope).get("user-agent", "")[:200],
        },
    )
