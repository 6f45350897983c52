"""A real server to try: started anew under one address, looked at from outside, and its folder gone through."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.settings import UploadLimits
from nsysan.service.sweeping import sweep
from nsysan.service.uploads import Uploads
from nsysan.service.work.order import PAGE, RUN_JSON

OK = 200


class Server:
    """A server that is started again under the same address whenever it is gone."""

    def __init__(self, data: Path, *arguments: str, free_gib: float = 0.0) -> None:
        self.data = data
        self._arguments = (*arguments, "--free-gib", str(free_gib))
        self._port = _free_port()
        self.process = self._start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        """Its port."""
        return self._port

    @property
    def log(self) -> Path:
        """What all of them said on standard error."""
        return Path(f"{self.data}.log")

    def _start(self) -> subprocess.Popen[str]:
        with self.log.open("a") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "nsysan", "serve", "--data", str(self.data), "--port", str(self._port)),
                    *self._arguments,
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdout is not None
        if "Serving" not in process.stdout.readline():
            sys.exit(f"no server: see {self.log}")
        return process

    def kill(self) -> None:
        """As with kill -9."""
        self.process.kill()
        self.process.communicate()

    def start_again(self) -> None:
        """The next one, where there is none any more."""
        self.process = self._start()

    def stop(self) -> None:
        """In good order."""
        self.process.terminate()
        self.process.communicate(timeout=60)

    def get(self, path: str) -> tuple[int, bytes]:
        """Status and body; status 0 where nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def queued_count(self) -> int | None:
        """How many runs wait; None where nobody answers."""
        status, body = self.get("/api/runs?state=queued")
        return int(json.loads(body)["total"]) if status == OK else None

    def delete(self, run_id: str) -> None:
        """Delete the run."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        connection.request("DELETE", f"/api/runs/{run_id}")
        connection.getresponse().read()
        connection.close()

    def wait_until_ended(self, patience_s: float = 600.0) -> None:
        """Wait until no run goes on by itself. Ends with an error where that takes too long."""
        until_s = time.monotonic() + patience_s
        while open_runs := [run["id"] for run in self.runs() if run["state"] in ("queued", "running")]:
            if time.monotonic() > until_s:
                sys.exit(f"these do not end: {open_runs}")
            time.sleep(0.5)

    def wait_for_each(self, longest_job_s: float) -> int:
        """Wait until no run goes on by itself, so long for each that still does; how many those are."""
        open_count = sum(run["state"] in ("queued", "running") for run in self.runs())
        self.wait_until_ended(longest_job_s * open_count)
        return open_count

    def runs(self) -> list[dict[str, Any]]:
        """All runs, as the API tells them."""
        found: list[dict[str, Any]] = []
        while True:
            status, body = self.get(f"/api/runs?first={len(found)}")
            if status != OK:
                time.sleep(0.2)
                continue
            said = json.loads(body)
            found += said["runs"]
            if len(found) >= said["total"]:
                return found


class Peak:
    """Looks at the memory of a process until it ends or is asked."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak_bytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._stop.wait(0.05):
            with suppress(OSError):
                pages = int(Path(f"/proc/{self._pid}/statm").read_text().split()[1])
                self._peak_bytes = max(self._peak_bytes, pages * os.sysconf("SC_PAGE_SIZE"))

    def end(self) -> int:
        """The most it was seen to hold, in bytes."""
        self._stop.set()
        self._thread.join()
        return self._peak_bytes


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """A file system in memory of that size; needs the right to mount one."""
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)], check=True)  # noqa: S607
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)  # noqa: S607


def check_folder(data: Path) -> None:
    """Every file is told of by the ledger, every capture is what its name says, and every report is whole."""
    folder = DataFolder(data)
    ledger = Ledger(folder.ledger)
    swept = sweep(ledger, folder, Uploads(ledger, folder, UploadLimits()))
    with ledger.reading() as database:
        sound = database.execute("pragma integrity_check").fetchone()[0]
        reports = [row["report"] for row in database.query("select report from runs where state = 'done'")]
    ledger.close()
    wrong = [path for path in data.glob("captures/*/*") if hashlib.sha256(path.read_bytes()).hexdigest() != path.name]
    gone = [report for report in reports if not _is_whole(folder.reports / report)]
    if sound != "ok" or swept.lost_captures or swept.stray_files or wrong or gone:
        sys.exit(f"inconsistent: {sound}, {swept}, {wrong}, {gone}")


def _is_whole(report: Path) -> bool:
    """Whether the page goes to its end and the run.json can be read."""
    page = (report / PAGE).read_text() if (report / PAGE).is_file() else ""
    return page.rstrip().endswith("</html>") and bool(json.loads((report / RUN_JSON).read_bytes()))


def is_open(connection: socket.socket) -> bool:
    """Whether the server has not closed the connection yet."""
    connection.setblocking(False)  # noqa: FBT003 - as it is called
    try:
        return bool(connection.recv(1 << 16))
    except BlockingIOError:
        return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
