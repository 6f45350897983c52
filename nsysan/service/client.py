"""The sending side: files go to a server in pieces, and go on where they broke off, whatever broke."""

from __future__ import annotations

import hashlib
import http.client
import json
import secrets
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from nsysan.model.errors import InputError, MissingToolError, UsageError
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.text import visible_text
from nsysan.service.addresses import parts_of_address

PIECE_BYTES = 8 << 20
_END_BYTES = 1 << 20
_BEGINNINGS = 3
"""So often a file is sent from its beginning on, where the server has forgotten what came of it."""
_KEY_BYTES = 16
_CONNECT_S = 5.0
_TIMEOUT_S = 300.0
"""A server that began anew meanwhile hashes a large file once more before it answers."""
_LONGEST_ANSWER_BYTES = 1 << 20
_LONGEST_PAUSE_S = 30.0
_MOST_DOUBLINGS = 10
_Answer = TypeVar("_Answer")
_PASSING = frozenset({408, 409, 429, 502, 503, 504})
"""What may be gone at the next try: a busy server, one that begins anew, an offset that was wrong."""


class RefusedError(UsageError):
    """The server will not have it, for a reason that does not pass."""


class LostError(RefusedError):
    """The server knows nothing of it, or no more."""


class UnreachableError(MissingToolError):
    """The server cannot be reached, or broke off, again and again."""


class Patience(msgspec.Struct, frozen=True):
    """How often in a row something may fail before it is given up, and how to wait meanwhile.

    A server that never answered gets ``first_tries``: most likely the address is wrong. ``tell`` gets a sentence on a
    failure after which something is tried again.
    """

    tries: int = 8
    wait: Callable[[float], None] = time.sleep
    first_tries: int = 3
    tell: Callable[[str], None] = lambda _sentence: None


class Sender:
    """Talks to one server. Raises UsageError where the address is none."""

    def __init__(self, url: str, token: str | None, patience: Patience | None = None) -> None:
        parts = parts_of_address(url)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{visible_text(url)} is no address of a server.", "Give it as http://host:8470")
        self._parts = parts
        self._path = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
        self._patience = patience or Patience()
        self._has_answered = False

    def send(self, path: Path, progress: Progress = UNWATCHED) -> dict[str, str]:
        """The upload that the file has become, as a run is made of it. Raises InputError where it cannot be read."""
        for _ in range(_BEGINNINGS - 1):
            with suppress(LostError):
                return self._send_once(path, progress)
        return self._send_once(path, progress)

    def _send_once(self, path: Path, progress: Progress) -> dict[str, str]:
        with _readable(path):
            size_bytes = path.stat().st_size
            announced = {"name": path.name, "size_bytes": size_bytes, "fingerprint": _fingerprint(path)}
        upload = self._insist("POST", "/api/uploads", announced)
        progress.begin(f"sending {visible_text(path.name)}")
        digest, hashed_bytes, offset = hashlib.sha256(), 0, int(upload["offset_bytes"])
        with _readable(path), path.open("rb") as file:
            while hashed_bytes < size_bytes:
                piece = file.read(min(PIECE_BYTES, size_bytes - hashed_bytes))
                if not piece:
                    raise InputError(f"{visible_text(path.name)} became shorter meanwhile.", "Send it when it rests.")
                digest.update(piece)
                hashed_bytes += len(piece)
                if offset < hashed_bytes:
                    offset = self._send_piece(upload["id"], piece, hashed_bytes, offset)
        return {"id": str(upload["id"]), "sha256": digest.hexdigest()}

    def make_run(self, uploads: list[dict[str, str]], said: Mapping[str, str]) -> str:
        """The address of the run's page."""
        # where the answer is lost the run is there: by the key the next try is told of it
        key = secrets.token_hex(_KEY_BYTES)
        run = self._insist("POST", "/api/runs", {**said, "uploads": uploads, "key": key})
        return f"{self._parts.scheme}://{self._parts.netloc}{self._path}{run['path']}"

    def state_of(self, address: str) -> dict[str, Any]:
        """How the run at this address stands."""
        return self._insist("GET", f"/api/runs/{address.rpartition('/')[2]}", None)

    def _send_piece(self, upload_id: str, piece: bytes, end: int, reached: int) -> int:
        """How far the upload has come with this piece, which ends there. Sends what of it the server lacks."""
        known = [reached]

        def send_rest() -> int:
            # after a failure only the server knows how far it has come
            offset = known.pop() if known else int(self._ask("GET", f"/api/uploads/{upload_id}")["offset_bytes"])
            if offset >= end:
                return offset
            if offset < end - len(piece):
                raise RefusedError("The server has lost a part of the file.", "Begin again.")
            headers = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
            lacking = piece[offset - end + len(piece) :]
            return int(self._ask("PATCH", f"/api/uploads/{upload_id}", lacking, headers)["offset_bytes"])

        return self._patiently(send_rest)

    def _insist(self, method: str, path: str, said: Mapping[str, Any] | None) -> dict[str, Any]:
        body = None if said is None else json.dumps(said).encode()
        return self._patiently(lambda: self._ask(method, path, body, {"Content-Type": "application/json"}))

    def _patiently(self, act: Callable[[], _Answer]) -> _Answer:
        """What comes of it, tried again and again, with longer and longer pauses, as long as it may go better."""
        failures = 0
        while True:
            try:
                return act()
            except UnreachableError as error:  # noqa: PERF203 - it waits here
                failures += 1
                if failures >= (self._patience.tries if self._has_answered else self._patience.first_tries):
                    raise
                pause_s = min(0.25 * 2 ** min(failures, _MOST_DOUBLINGS), _LONGEST_PAUSE_S)
                self._patience.tell(f"{error.message} Trying again in {pause_s:g} s.")
                self._patience.wait(pause_s)

    def _ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """What the server answers. Raises UnreachableError where that may go better next time, else RefusedError."""
        connection = self._connection()
        try:
            _connect(connection)
            with suppress(BrokenPipeError, ConnectionResetError):  # the server may have said why before it closed
                connection.request(method, self._path + path, body, {**self._headers, **(headers or {})})
            answer = connection.getresponse()
            text = _whole(answer)
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            raise UnreachableError(
                f"{visible_text(self._parts.netloc)} cannot be reached: {visible_text(str(error))}.",
                "What has arrived stays there for a day: give the command again."
                if self._has_answered
                else "Check the address, and that the server runs: nothing has been sent.",
            ) from error
        finally:
            connection.close()
        self._has_answered = True
        return self._understood(answer.status, text)

    def _understood(self, status: int, text: bytes) -> dict[str, Any]:
        try:
            said = json.loads(text)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise _not_understood(status, visible_text(self._parts.netloc))
        if status < http.client.BAD_REQUEST:
            return said
        message, hint = (visible_text(str(said.get(key, ""))) for key in ("error", "hint"))
        if status == http.client.NOT_FOUND:
            raise LostError(message, hint)
        raise (UnreachableError if status in _PASSING else RefusedError)(message, hint)

    def _connection(self) -> http.client.HTTPConnection:
        if self._parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._parts.netloc, timeout=_CONNECT_S, context=context)
        return http.client.HTTPConnection(self._parts.netloc, timeout=_CONNECT_S)


def _whole(answer: http.client.HTTPResponse) -> bytes:
    """The body, as far as any answer of ours goes. Raises IncompleteRead where it breaks off, as servers die."""
    text = answer.read(_LONGEST_ANSWER_BYTES)
    if answer.length and len(text) < _LONGEST_ANSWER_BYTES:
        raise http.client.IncompleteRead(text, answer.length)
    return text


def _not_understood(status: int, place: str) -> UsageError | MissingToolError:
    """What to raise where the answer is none of a server of ours: a proxy before it may speak while it is away."""
    if status in _PASSING:
        return UnreachableError(f"{place} answers with {status}.", "Check that the server behind it runs.")
    return RefusedError(f"{place} is no server of nsysan.", "Check the address.")


def _connect(connection: http.client.HTTPConnection) -> None:
    """Connect, which is quick where there is a server; what it then does may take long."""
    connection.connect()
    connection.sock.settimeout(_TIMEOUT_S)


def _fingerprint(path: Path) -> str:
    """What this file is known by when it is sent again: where it lies, its size, and its first and last MiB, hashed.

    Of two that are alike in two places each is sent by itself, for they may be sent at once.
    """
    size_bytes = path.stat().st_size
    digest = hashlib.sha256(f"{socket.gethostname()}\0{path.resolve()}\0".encode("utf-8", "surrogateescape"))
    with path.open("rb") as file:
        digest.update(file.read(_END_BYTES))
        file.seek(max(0, size_bytes - _END_BYTES))
        digest.update(file.read(_END_BYTES))
    return f"{size_bytes}-{digest.hexdigest()}"


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise InputError(f"{visible_text(str(path))} cannot be sent: {error.strerror}.", "Give a file.") from error
