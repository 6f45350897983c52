"""A real server in a process of its own, and a plain client that keeps no rules of its own."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

START_S = 60.0
BOUNDARY = "boundary-of-the-tests"


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def said(self) -> dict[str, Any]:
        """The body as JSON."""
        document: dict[str, Any] = json.loads(self.body)
        return document

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


@dataclass
class Running:
    """A server: its folder, where it listens, and its process."""

    data: Path
    process: subprocess.Popen[str]
    port: int
    token: str | None = None
    log: Path = field(default_factory=Path)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes | str | None = None, *, token: str | None = None, **headers: str
    ) -> Answer:
        """What it answers; underscores in the names of headers are hyphens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if (secret := token or self.token) is not None:
            sent["Authorization"] = f"Bearer {secret}"
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def upload(self, files: Mapping[str, bytes], token: str | None = None, **fields: str) -> Answer:
        """What it answers to a form with these files, as curl sends it."""
        body, kind = form_of(files, fields)
        return self.ask("POST", "/upload", body, token=token, Content_Type=kind)

    def ended(self, run_id: str, token: str | None = None) -> dict[str, Any]:
        """The run once it goes on by itself no more."""
        until_s = time.monotonic() + START_S
        while time.monotonic() < until_s:
            run = self.ask("GET", f"/api/runs/{run_id}", token=token).said
            if run["state"] not in ("queued", "running"):
                return run
            time.sleep(0.1)
        raise TimeoutError(f"{run_id} does not end; the log: {self.log.read_text()[-3000:]}")

    def end(self) -> None:
        """End it, if it still runs."""
        self.process.kill()
        self.process.communicate()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """How it ended after this signal."""
        self.process.send_signal(number)
        return self.process.wait(START_S)


def form_of(files: Mapping[str, bytes], fields: Mapping[str, str]) -> tuple[bytes, str]:
    """A form with files as it is sent, and its type."""
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in fields.items()]
    parts += [
        f'Content-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode() + data
        for name, data in ((name.replace('"', '\\"'), data) for name, data in files.items())
    ]
    body = b"".join(b"--%s\r\n%s\r\n" % (BOUNDARY.encode(), part) for part in parts)
    return body + b"--%s--\r\n" % BOUNDARY.encode(), f"multipart/form-data; boundary={BOUNDARY}"


def start(data: Path, *arguments: str, token: str | None = None, **variables: str) -> Running:
    """A server around this folder, once it listens."""
    data.parent.mkdir(parents=True, exist_ok=True)
    log = data.with_name(f"{data.name}.log")
    command = [sys.executable, "-m", "nsysan", "serve", "--data", str(data), "--port", "0", *arguments]
    with log.open("a") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **variables}
        )
    assert process.stdout is not None
    line = _first_line(process.stdout)
    found = re.search(r":(\d+)/", line)
    if found is None:
        process.kill()
        process.communicate()
        raise AssertionError(f"no server: {line!r}; the log: {log.read_text()[-3000:]}")
    return Running(data, process, int(found[1]), token, log)


@contextmanager
def serving(data: Path, *arguments: str) -> Iterator[Running]:
    """A server around this folder, gone in the end whatever happens."""
    running = start(data, "--free-gib", "0", *arguments)
    try:
        yield running
    finally:
        running.end()


def _first_line(stream: IO[str]) -> str:
    ready, _, _ = select.select([stream], [], [], START_S)
    return stream.readline() if ready else ""
