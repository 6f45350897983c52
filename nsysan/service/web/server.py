"""A server with all its parts, put together once."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections.abc import Sized

import msgspec
from starlette.requests import HTTPConnection

from nsysan.service.access import Access
from nsysan.service.addresses import parts_of_address
from nsysan.service.audit import Audit
from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.queue import Queue
from nsysan.service.rates import Rate
from nsysan.service.runner import Runner
from nsysan.service.runs import Runs
from nsysan.service.settings import Settings
from nsysan.service.sharing import Shares
from nsysan.service.uploads import Uploads


class Server(msgspec.Struct):
    """What every answer is made from. ``stopping`` is set when no more work is to be begun.

    ``connections`` are those that are open, whatever comes over them.
    """

    settings: Settings
    folder: DataFolder
    ledger: Ledger
    uploads: Uploads
    runs: Runs
    queue: Queue
    access: Access
    shares: Shares
    audit: Audit
    runner: Runner
    requests: Rate
    failed_logins: Rate
    local_csrf: str
    stopping: asyncio.Event
    connections: Sized = ()
    open_bodies: int = 0
    open_streams: int = 0

    @property
    def needs_tokens(self) -> bool:
        """Whether nobody comes in without a token."""
        return needs_tokens(self.settings)

    @property
    def is_https(self) -> bool:
        """Whether clients come by HTTPS, as far as the server was told."""
        return (self.settings.public_url or "").startswith("https:")


def build_server(settings: Settings, folder: DataFolder, ledger: Ledger) -> Server:
    """The server around this folder and its ledger; to be called where an event loop runs."""
    uploads = Uploads(ledger, folder, settings.uploads)
    runs = Runs(ledger, folder, settings.uploads)
    queue = Queue(ledger, settings.worker.interruptions)
    return Server(
        settings=settings,
        folder=folder,
        ledger=ledger,
        uploads=uploads,
        runs=runs,
        queue=queue,
        access=Access(ledger),
        shares=Shares(ledger),
        audit=Audit(ledger),
        runner=Runner(ledger, folder, runs, queue, settings),
        requests=Rate(settings.rates.requests),
        failed_logins=Rate(settings.rates.failed_logins),
        local_csrf=secrets.token_urlsafe(),
        stopping=asyncio.Event(),
    )


def server_of(connection: HTTPConnection) -> Server:
    """The server that the request came to."""
    server: Server = connection.app.state.server
    return server


def needs_tokens(settings: Settings) -> bool:
    """Whether a server so set up lets nobody in without a token: where others than this machine can reach it."""
    return settings.require_tokens or settings.public_url is not None or not is_loopback(settings.host)


def is_loopback(host: str) -> bool:
    """Whether the host, with or without a port, is this machine as only it can reach it."""
    parts = parts_of_address(f"//{host}" if not host.count(":") > 1 or host.startswith("[") else f"//[{host}]")
    name = None if parts is None else parts.hostname
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name or "").is_loopback
    except ValueError:
        return False
