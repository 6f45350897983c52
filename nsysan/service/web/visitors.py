"""Who sends a request, by which right, and whether a browser was talked into it by another site."""

from __future__ import annotations

import hmac

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from nsysan.service.addresses import parts_of_address
from nsysan.service.people import LOCAL, Person
from nsysan.service.refusals import Refusal
from nsysan.service.web.server import Server, server_of

CSRF_HEADER = "x-csrf-token"
_OWN_SITES = (None, "same-origin", "none")
RELOAD = "Reload the page, then try again."


class Visitor(msgspec.Struct, frozen=True):
    """Who asks. ``csrf`` is what their forms carry; None for programs, which no other site can make ask."""

    person: Person
    csrf: str | None
    address: str


def cookie_name(server: Server) -> str:
    """What the cookie of a session is called; by HTTPS a browser lets nobody else set one of that name."""
    return "__Host-nsysan_session" if server.is_https else "nsysan_session"


def address_of(request: Request) -> str:
    """Where the request comes from."""
    return request.client.host if request.client else "unknown"


async def visitor_of(request: Request) -> Visitor | None:
    """Who sends the request, None where that is not known. Raises Refusal where the token is nobody's."""
    server, address = server_of(request), address_of(request)
    if (given := request.headers.get("authorization")) is not None:
        return Visitor(await _bearer(server, given, address), None, address)
    if not server.needs_tokens:
        return Visitor(LOCAL, server.local_csrf, address)
    cookie = request.cookies.get(cookie_name(server))
    session = None if cookie is None else await run_in_threadpool(server.access.session_with, cookie)
    return None if session is None else Visitor(session.person, session.csrf, address)


async def demand_visitor(request: Request) -> Visitor:
    """Who sends the request. Raises Refusal where that is not known."""
    visitor = await visitor_of(request)
    if visitor is None:
        raise Refusal("This server lets in only who has a token.", "Log in, or send the token.", status=401)
    return visitor


async def demand_uploader(request: Request) -> Visitor:
    """Who sends the request. Raises Refusal where they may not change anything, or another site made them send it."""
    visitor = await demand_visitor(request)
    if not visitor.person.may_upload:
        raise Refusal("Your token only reads.", "Ask for one with the role uploader.", status=403)
    check_site(request)
    return visitor


async def person_with(server: Server, secret: str, address: str) -> Person:
    """Whose token this is. Raises Refusal where it is nobody's, sooner or later without a note of it."""
    person = await run_in_threadpool(server.access.person_with, secret)
    if person is not None:
        return person
    if not server.failed_logins.take(address):
        raise Refusal("Too many tokens were tried from here.", "Wait a minute.", status=429)
    await run_in_threadpool(server.audit.record, None, address, "refused token")
    raise Refusal("The token is not known, or has expired.", "Ask whoever runs the server for one.", status=401)


def check_site(request: Request) -> None:
    """Raise Refusal where a browser sends the request for another site than this."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    parts = parts_of_address(origin or "")
    is_own = origin is None or (parts is not None and parts.netloc == request.headers.get("host"))
    if site not in _OWN_SITES or not is_own:
        raise Refusal("Another site sent this request.", "Open this server's own page.", status=403)


def check_form(request: Request, visitor: Visitor, given: str | None) -> None:
    """Raise Refusal where the request should carry the token of this server's own forms and does not.

    Programs that send a token of access need none; nor do those on this machine, which no browser is.
    """
    if visitor.csrf is None:
        return
    is_browser = any(name in request.headers for name in ("origin", "sec-fetch-site", "cookie"))
    is_right = given is not None and hmac.compare_digest(given.encode(), visitor.csrf.encode())
    if is_browser and not is_right:
        raise Refusal("The page that sent this is too old.", RELOAD, status=403)


async def _bearer(server: Server, given: str, address: str) -> Person:
    scheme, _, secret = given.partition(" ")
    if scheme.lower() != "bearer":
        raise Refusal("Only tokens are understood here.", "Send: Authorization: Bearer TOKEN", status=401)
    return await person_with(server, secret.strip(), address)
