"""The server as a process: it takes the folder for itself, puts it in order, serves, and stops in good order."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from nsysan.model.errors import UsageError
from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.logs import begin_logging
from nsysan.service.settings import Settings
from nsysan.service.sweeping import forget_expired, sweep
from nsysan.service.web.application import build_application
from nsysan.service.web.server import Server, build_server, needs_tokens

_LOG = logging.getLogger("nsysan.service")
_SWEEP_S = 3600.0
_HEAD_S = 10.0
"""How long a client may take for the head of its request."""
_BACKLOG = 32
"""So many connections wait to be taken, and are then taken at one go; asyncio takes more before it closes the first."""
_MOST_CONNECTIONS = 512
"""More are closed at once: each holds a descriptor, and files and processes need some."""
_DESCRIPTORS = 4096


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal says to stop; ``announce`` is told the address once connections are taken.

    Raises UsageError where the folder cannot be used, the port is taken, or nobody could come in.
    """
    begin_logging()
    _take_descriptors()
    folder = DataFolder(settings.data.resolve())
    with _private_files():
        folder.make()
        _serve_folder(settings, folder, announce)


def _serve_folder(settings: Settings, folder: DataFolder, announce: Callable[[str], None]) -> None:
    with folder.owned():
        ledger = Ledger(folder.ledger)
        try:
            _demand_tokens(settings, ledger)
            with _listening(settings) as listener:
                asyncio.run(_serve(settings, folder, ledger, listener, announce))
        finally:
            ledger.close()


def _take_descriptors() -> None:
    """Allow this process as many open files and connections as it may need, where the system does."""
    allowed, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if highest == resource.RLIM_INFINITY else min(_DESCRIPTORS, highest)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, highest))


@contextmanager
def _private_files() -> Iterator[None]:
    """What is made in the block is this user's alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


async def _serve(
    settings: Settings, folder: DataFolder, ledger: Ledger, listener: socket.socket, announce: Callable[[str], None]
) -> None:
    server = build_server(settings, folder, ledger)
    application = build_application(server, lambda: _living(server))
    config = uvicorn.Config(
        application,
        http=_ImpatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=max(1, int(settings.stop_s)),
    )
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    announce(settings.public_url or f"http://{shown}:{port}/")
    await _StoppableServer(config, server).serve([listener])


@asynccontextmanager
async def _living(server: Server) -> AsyncIterator[None]:
    """The server at work: what died before is put in order, runs are analysed, what has expired goes."""
    swept = await asyncio.to_thread(sweep, server.ledger, server.folder, server.uploads)
    cut_off = await asyncio.to_thread(server.queue.recover)
    _LOG.info(
        "begins",
        extra={
            "cut_off_runs": cut_off,
            "stray_files": swept.stray_files,
            "expired_uploads": swept.expired_uploads,
            "lost_captures": swept.lost_captures,
        },
    )
    server.runner.start()
    tidying = asyncio.create_task(_tidy(server))
    try:
        yield
    finally:
        tidying.cancel()
        await server.runner.stop()
        _LOG.info("stopped")


async def _tidy(server: Server) -> None:
    """Every hour remove what has expired."""
    while True:
        await asyncio.sleep(_SWEEP_S)
        with suppress(OSError):
            await asyncio.to_thread(_remove_expired, server)


def _remove_expired(server: Server) -> None:
    server.uploads.forget(server.uploads.expired())
    forget_expired(server.ledger)


def _demand_tokens(settings: Settings, ledger: Ledger) -> None:
    if not needs_tokens(settings):
        return
    with ledger.reading() as database:
        has_some = next(database.query("select count(*) as n from tokens"))["n"]
    if not has_some:
        raise UsageError(
            "Others could reach this server, and there is no token with which to come in.",
            "Make one: nsysan token add NAME --role uploader --data DIR",
        )


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    """The socket that connections come to. Raises UsageError where it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # only where TCP is named does asyncio send what is small at once: else an answer waits 40 ms for the client's word
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise UsageError(
                f"Cannot listen on {settings.host}, port {settings.port}: {error.strerror}.", "Choose another --port."
            ) from error
        listener.listen(_BACKLOG)
        yield listener


class _StoppableServer(uvicorn.Server):
    """Stops at the first signal, and at the second at once; then returns, whatever the signal."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server
        server.connections = self.server_state.connections

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals mean to stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _stop(self, number: int) -> None:
        self._server.stopping.set()
        self.handle_exit(number, None)


class _ImpatientProtocol(H11Protocol):
    """Closes a connection that brings no whole head of a request for too long, the first or a later one.

    One that is too many is closed before it brings anything.
    """

    def connection_made(self, transport: Any) -> None:
        """Begin to look."""
        super().connection_made(transport)
        self._served: object = None
        self._timer = self.loop.call_later(_HEAD_S, self._look)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # none before the first request
        is_idle = cycle is None or cycle.response_complete
        if is_idle and self._served is cycle:
            self.transport.close()
            return
        # what was served last: where nothing else has been by the next look, nothing came meanwhile
        self._served = cycle if is_idle else self
        self._timer = self.loop.call_later(_HEAD_S, self._look)
