"""M23: more connections than a server takes are told to come back or closed, and ours come back."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message

from nsysan.service.client import Patience, Sender, UnreachableError
from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.settings import RateLimits, Settings
from nsysan.service.web.front import Front
from nsysan.service.web.server import Server, build_server
from tests.service.conftest import Start
from tests.service.heart import Heart
from tests.service.running import START_S

DESCRIPTORS = 720
"""512 connections, four times 32 more that are taken before any is closed, and what the server itself has open."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one process limit another")
def test_a_crowd_of_connections_leaves_descriptors_for_uploads_and_analyses(start_server: Start, report: bytes) -> None:
    server = start_server()
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    run_id = server.upload({"rank0.sqlite": report}).said["id"]

    with ExitStack() as stack, suppress(ConnectionResetError):
        for _ in range(DESCRIPTORS + 100):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), START_S))

    assert server.ended(run_id)["state"] == "done"
    assert "out of system resource" not in server.log.read_text()


def test_a_connection_too_many_is_told_when_to_come_back(heart: Heart) -> None:
    async def answer(server: Server) -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
        await Front(PlainTextResponse("served"), server)(scope, receive, send)
        return sent

    async def answers() -> list[list[Message]]:
        settings = Settings(data=heart.folder.root, rates=RateLimits(connections=3))
        server = build_server(settings, heart.folder, heart.ledger)
        found = []
        for count in (3, 4):
            server.connections = range(count)
            found.append(await answer(server))
        return found

    with ThreadPoolExecutor(1) as pool:
        served, refused = pool.submit(asyncio.run, answers()).result()

    assert served[1]["body"] == b"served"
    assert refused[0]["status"] == 503
    assert {(b"retry-after", b"2"), (b"connection", b"close"), (b"x-content-type-options", b"nosniff")} <= set(
        refused[0]["headers"]
    )
    assert json.loads(refused[1]["body"])["error"] == "Too many connections are open."


@pytest.mark.parametrize("status", [502, 503, 504])
def test_nsysan_upload_tries_again_where_a_proxy_speaks_for_a_server_that_is_away(status: int, tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"x")
    pauses: list[float] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"<html>Come back later</html>")

    with HTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        sender = Sender(f"http://127.0.0.1:{proxy.server_port}", None, Patience(3, pauses.append))
        with pytest.raises(UnreachableError, match=f"127.0.0.1:{proxy.server_port} answers with {status}"):
            sender.send(tmp_path / "r.sqlite")

    assert pauses == [0.5, 1.0]


def test_nsysan_upload_tries_again_where_the_server_died_within_its_answer(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"x")
    pauses: list[float] = []
    # the head alone, a part of the body, all of it; then how far the piece has come
    whole, reached = b'{"id": "a", "offset_bytes": 0}', b'{"offset_bytes": 1}'
    answers = [(whole, 0), (whole, 10), (whole, len(whole)), (reached, len(reached))]

    class Dying(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(201)
            body, sent_bytes = answers.pop(0)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:sent_bytes])

        do_PATCH = do_POST  # noqa: N815 - as it is called

    with HTTPServer(("127.0.0.1", 0), Dying) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        sender = Sender(f"http://127.0.0.1:{server.server_port}", None, Patience(3, pauses.append))
        sent = sender.send(tmp_path / "r.sqlite")
        server.shutdown()

    assert (sent["id"], pauses) == ("a", [0.5, 1.0])


def test_the_ledger_is_this_users_alone_whoever_makes_it_first(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    ledger = Ledger(folder.ledger)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    ledger.close()

    assert modes == dict.fromkeys(("ledger.sqlite", "ledger.sqlite-shm", "ledger.sqlite-wal"), 0o600)
