"""nsysan upload: several files as one run, and how patient it is with a server that is away."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from nsysan.model.errors import InputError
from nsysan.service.client import Patience, Sender, UnreachableError
from tests.service.running import Running


def test_nsysan_upload_sends_several_files_as_one_run(server: Running, report: bytes, tmp_path: Path) -> None:
    (tmp_path / "rank0.sqlite").write_bytes(report)
    (tmp_path / "rank1.sqlite").write_bytes(report + b"x")
    sender = Sender(server.url, None)

    address = sender.make_run([sender.send(tmp_path / f"rank{n}.sqlite") for n in range(2)], {"title": "both"})

    assert sender.state_of(address)["title"] == "both"
    page = server.ask("GET", address.removeprefix(server.url)).text
    assert [name in page for name in ("rank0.sqlite", "rank1.sqlite")] == [True, True]
    server.ask("DELETE", address.removeprefix(server.url).replace("/runs/", "/api/runs/"))
    with pytest.raises(InputError, match="cannot be sent: No such file"):
        sender.send(tmp_path / "none.sqlite")


def test_nsysan_upload_begins_again_where_the_server_has_forgotten(server: Running, tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"x" * 100)

    class Forgetful(Sender):
        forgotten = 0

        def _send_piece(self, upload_id: str, piece: bytes, end: int, reached: int) -> int:
            if not self.forgotten:
                self.forgotten += 1
                server.ask("DELETE", f"/api/uploads/{upload_id}")
            return super()._send_piece(upload_id, piece, end, reached)

    sent = Forgetful(server.url, None).send(tmp_path / "r.sqlite")

    assert server.ask("GET", f"/api/uploads/{sent['id']}").said["offset_bytes"] == 100


def test_nsysan_upload_gives_up_soon_where_nobody_ever_answered(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"x")
    pauses: list[float] = []
    told: list[str] = []
    patience = Patience(wait=pauses.append, tell=told.append)

    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9 cannot be reached") as raised:
        Sender("http://127.0.0.1:9", None, patience).send(tmp_path / "r.sqlite")

    assert pauses == [0.5, 1.0]
    assert [sentence.rpartition(". ")[2] for sentence in told] == ["Trying again in 0.5 s.", "Trying again in 1 s."]
    assert all("cannot be reached" in sentence for sentence in told)
    assert raised.value.hint == "Check the address, and that the server runs: nothing has been sent."


def test_nsysan_upload_may_be_told_to_be_patient_for_ever(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"x")
    pauses: list[float] = []

    with pytest.raises(UnreachableError):
        Sender("http://127.0.0.1:9", None, Patience(wait=pauses.append, first_tries=1100)).send(tmp_path / "r.sqlite")

    assert (len(pauses), pauses[5:8], max(pauses)) == (1099, [16.0, 30.0, 30.0], 30.0)


def _answer_once(server: HTTPServer) -> None:
    server.handle_request()
    server.server_close()


def test_nsysan_upload_is_patient_with_a_server_that_answered_before(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"x")
    pauses: list[float] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(201)
            self.end_headers()
            self.wfile.write(b'{"id": "a", "offset_bytes": 0}')

    with HTTPServer(("127.0.0.1", 0), Answering) as once:
        address = f"http://127.0.0.1:{once.server_port}"
        Thread(target=_answer_once, args=(once,)).start()
        with pytest.raises(UnreachableError) as raised:
            Sender(address, None, Patience(5, pauses.append)).send(tmp_path / "r.sqlite")

    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert raised.value.hint == "What has arrived stays there for a day: give the command again."
