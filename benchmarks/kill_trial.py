"""Kill -9 again and again while clients keep sending: at random moments, and aimed at the short ones.

What a kill cut off is read from the folder that the dead server left, before the next one sees it.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

from stressed_server import Server, check_folder

from nsysan.service.client import Patience, Sender

PATIENT = Patience(tries=10_000, wait=lambda _asked_s: time.sleep(0.2), first_tries=10_000)
"""Of a client that outlives any number of servers."""
KILLS_VARIABLE = "NSYSAN_STRESS_KILLS"
CLIENTS = 4
MOST_QUEUED = 4
"""With so many runs in the queue nobody sends another: what is left at the end is soon done."""
LONGEST_JOB_S = 120.0
"""What is left at the end may take so long each."""
_LONG_BYTES = 24 << 20
"""What makes an upload long; SQLite does not look at what follows its last page."""
_LONGEST_AIM_S = 45.0
"""A moment that does not come until then is not waited for any longer."""
_GIVEN_UP = "The server died"


def send_patiently(server: Server, path: Path) -> str:
    """The address of the run that the file has become, however often the server dies meanwhile."""
    sender = Sender(server.url, None, PATIENT)
    return sender.make_run([sender.send(path)], {"title": path.name})


def killed(folder: Path, traces: Sequence[Path]) -> str:
    """Kill -9 while uploads, analyses and commits are under way, then everything is consistent."""
    kill_count = int(os.environ.get(KILLS_VARIABLE, "100"))
    server, draw = Server(folder / "data", "--workers", "2"), random.Random(12)
    clients = _Clients(server, folder, traces)
    begin_s, cut_off, aims = time.monotonic(), Counter[str](), Counter[str]()
    for _ in range(kill_count):
        aim = draw.choice(list(AIMS))
        aims[aim] += 1
        AIMS[aim](server.data, draw)
        server.kill()
        cut_off.update(_cut_off(server.data) or {"nothing"})
        server.start_again()
    killed_s = time.monotonic() - begin_s
    made = clients.end()
    open_count = server.wait_for_each(LONGEST_JOB_S)
    ended_s = time.monotonic() - begin_s
    states = _checked_runs(server, made)
    server.stop()
    check_folder(server.data)
    starts = _checked_starts(server)
    return (
        f"{kill_count} times kill -9 in {killed_s:.0f} s ({_listed(aims)} aimed at), which cut off {_listed(cut_off)}; "
        f"{starts} starts that found all captures; {len(made)} runs made, none lost, {_listed(states)}, "
        f"{open_count} of them in the {ended_s - killed_s:.0f} s after the last kill"
    )


class _Clients:
    """Clients that keep sending until they are told to end; each run that one was told of is remembered."""

    def __init__(self, server: Server, folder: Path, traces: Sequence[Path]) -> None:
        self._server, self._folder, self._traces = server, folder, traces
        self._made: list[str] = []
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(CLIENTS)
        self._sending = [self._pool.submit(self._send_on, number) for number in range(CLIENTS)]

    def end(self) -> list[str]:
        """The addresses of all runs that were made, what is being sent too. Raises what ended a client."""
        self._stop.set()
        for sending in self._sending:
            sending.result()
        self._pool.shutdown()
        return self._made

    def _send_on(self, number: int) -> None:
        draw, path = random.Random(number), self._folder / f"sent-{number}.sqlite"
        while not self._stop.is_set():
            # what others send as well, a content of its own, and one whose upload takes a while
            extra = draw.choice([b"", os.urandom(64), os.urandom(_LONG_BYTES)])
            path.write_bytes(draw.choice(self._traces).read_bytes() + extra)
            self._made.append(send_patiently(self._server, path))
            self._stop.wait(draw.random() * 2)
            while not self._has_room() and not self._stop.wait(0.5):
                pass

    def _has_room(self) -> bool:
        count = self._server.queued_count()
        return count is not None and count <= MOST_QUEUED


def _at_random(_data: Path, draw: random.Random) -> None:
    """From start-up to beyond the end of an analysis."""
    time.sleep(draw.random() * draw.choice([0.5, 2.0, 12.0]))


def _in_upload(data: Path, draw: random.Random) -> None:
    _await(lambda: any(_size_bytes(part) for part in (data / "uploads").iterdir()))
    time.sleep(draw.random() * 0.1)


def _in_analysis(data: Path, draw: random.Random) -> None:
    _await(lambda: any((data / "work").iterdir()))
    time.sleep(draw.random() * 3.0)


def _in_commit(data: Path, draw: random.Random) -> None:
    """From the first byte of a page on until a little after the ledger has it."""
    _await(lambda: any((data / "work").glob("*/result")))
    time.sleep(draw.random() * 0.1)


AIMS: dict[str, Callable[[Path, random.Random], None]] = {
    "any moment": _at_random,
    "an upload": _in_upload,
    "an analysis": _in_analysis,
    "a commit": _in_commit,
}


def _await(has_come: Callable[[], bool]) -> None:
    until_s = time.monotonic() + _LONGEST_AIM_S
    while time.monotonic() < until_s:
        with suppress(OSError):
            if has_come():
                return
        time.sleep(0.002)


def _size_bytes(path: Path) -> int:
    return path.stat().st_size


def _cut_off(data: Path) -> set[str]:
    """What the dead server had under way."""
    rows = {
        name: _asked(data, query)
        for name, query in {
            "open": "select id from uploads where sha256 is null",
            "whole": "select sha256 from uploads where sha256 is not null union select sha256 from files",
            "running": "select id || '-' || attempt from runs where state = 'running'",
        }.items()
    }
    parts = {path.name: path.stat() for path in (data / "uploads").iterdir()}
    results = {path.parent.name for path in data.glob("work/*/result")} | {p.name for p in data.glob("reports/*")}
    captures = {path.name for path in data.glob("captures/*/*")}
    found = {
        "uploads": any(parts[name].st_size for name in rows["open"] & parts.keys()),
        "commits of an upload": bool(captures - rows["whole"] or parts.keys() - rows["open"]),
        "analyses": bool(rows["running"] - results),
        "commits of a report": bool(rows["running"] & results),
    }
    return {name for name, was_under_way in found.items() if was_under_way}


def _asked(data: Path, query: str) -> set[str]:
    """What the ledger has, asked of a copy: nothing may put it in order but the next server."""
    with tempfile.TemporaryDirectory() as folder:
        for path in data.glob("ledger.sqlite*"):
            shutil.copy(path, folder)
        with closing(sqlite3.connect(Path(folder, "ledger.sqlite"))) as ledger:
            return {row[0] for row in ledger.execute(query)}


def _checked_runs(server: Server, made: Sequence[str]) -> Counter[str]:
    """The states of all runs; ends with an error where one is lost, too many, or failed though its files are sound."""
    runs = {f"{server.url}{run['path']}": run for run in server.runs()}
    if sorted(made) != sorted(runs):
        sys.exit(f"lost {set(made) - runs.keys()}, nobody's {runs.keys() - set(made)}, {len(made)} made")
    states = Counter[str]()
    for run in runs.values():
        is_given_up = run["state"] == "failed" and run["failure"].startswith(_GIVEN_UP)
        if run["state"] != "done" and not is_given_up:
            sys.exit(f"{run['path']} is {run['state']}: {run['failure']}")
        states["given up" if is_given_up else run["state"]] += 1
    return states


def _checked_starts(server: Server) -> int:
    """How many servers began their work; ends with an error where one of them missed a capture."""
    # by its words, for a server may have died within a line
    missed = [int(count) for count in re.findall(r'"lost_captures": (\d+)', server.log.read_text())]
    if any(missed):
        sys.exit(f"captures lost: {missed}")
    return len(missed)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
