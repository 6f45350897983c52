"""What `nsysan serve` takes: many uploads at once, kill -9 again and again, a full disk, slow clients, load on pages.

Each trial starts real servers and tells one line of figures; anything that is lost or inconsistent ends it with an
error. All of it takes some minutes: python benchmarks/stress_service.py [TRIAL...]
"""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import socket
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from kill_trial import LONGEST_JOB_S, killed, send_patiently
from page_load import load
from stressed_server import OK, Peak, Server, check_folder, is_open, small_disk

from nsysan.service.client import Patience, Sender
from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.web.views import asset_name

MIB = 1 << 20
LONGEST_S = 90.0


def many_uploads(folder: Path, traces: Sequence[Path], upload_count: int = 50) -> str:
    """Real and hostile uploads at once: none lost, each with the ending it should have, memory bounded."""
    server = Server(folder / "data")
    files = _real_and_hostile(folder / "files", traces, upload_count)
    begin_s, peak = time.monotonic(), Peak(server.process.pid)
    with ThreadPoolExecutor(upload_count) as pool:
        addresses = list(pool.map(lambda entry: send_patiently(server, entry[0]), files))
    arrived_s = time.monotonic() - begin_s
    server.wait_for_each(LONGEST_JOB_S)
    took_s = time.monotonic() - begin_s
    states = {f"{server.url}{run['path']}": run for run in server.runs()}
    for (path, expected), address in zip(files, addresses, strict=True):
        if states[address]["state"] != expected:
            sys.exit(f"{path.name} is {states[address]['state']}: {states[address]['failure']}")
    sent_bytes = sum(path.stat().st_size for path, _ in files)
    kept_bytes = sum(path.stat().st_size for path in server.data.glob("captures/*/*"))
    server.stop()
    return (
        f"{upload_count} uploads at once, {sent_bytes / 1e6:.0f} MB: arrived in {arrived_s:.1f} s, analysed in "
        f"{took_s:.1f} s, {dict(Counter(expected for _, expected in files))}; "
        f"server's peak memory {peak.end() / 1e6:.0f} MB, {kept_bytes / 1e6:.0f} MB kept"
    )


def large_upload(folder: Path) -> str:
    """One gigabyte: how fast it comes in, and in how much memory."""
    path = folder / "large.bin"
    with path.open("wb") as file:
        for _ in range(1024):
            file.write(os.urandom(MIB))
    server = Server(folder / "data")
    peak, begin_s = Peak(server.process.pid), time.monotonic()
    Sender(server.url, None).send(path)
    took_s = time.monotonic() - begin_s
    server.stop()
    return (
        f"1 GiB from one client: {1024 * MIB / took_s / 1e6:.0f} MB/s, server's peak memory {peak.end() / 1e6:.0f} MB"
    )


def full_disk(folder: Path, traces: Sequence[Path]) -> str:
    """A disk of 24 MB that fills up: refusals with sentences, and room made brings it back."""
    with small_disk(folder / "disk", 24) as disk:
        server = Server(disk / "data", free_gib=0.004)
        refusals: Counter[str] = Counter()
        for number in range(30):
            path = folder / "more.sqlite"
            path.write_bytes(traces[number % len(traces)].read_bytes() + os.urandom(64))
            try:
                Sender(server.url, None, Patience(1)).make_run(
                    [Sender(server.url, None, Patience(1)).send(path)], {"title": str(number)}
                )
                refusals["taken"] += 1
            except Exception as error:  # noqa: BLE001 - any sentence will do, and is counted
                refusals[re.sub(r"\d+", "N", str(error).splitlines()[0])] += 1
        server.wait_until_ended()
        states = Counter(run["state"] for run in server.runs())
        for run in server.runs():
            server.delete(run["id"])
        again = send_patiently(server, traces[0])
        server.wait_until_ended()
        ending = next(run for run in server.runs() if again.endswith(run["path"]))
        server.stop()
        check_folder(server.data)
        if ending["state"] != "done":
            sys.exit(f"after room was made: {ending}")
        return f"24 MB disk: {dict(refusals)}; {dict(states)}; after deleting, the next run is done"


def slow_clients(folder: Path) -> str:
    """Connections that say nothing, half a head, or the first byte of a body, while others are served."""
    server = Server(folder / "data")
    begun = b"PUT /upload/r HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n\r\nx"
    heads = [b"", b"GET / HTTP/1.1\r\nHost: ", begun] * 60 + [b""] * 120
    connections = []
    for head in heads:
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(head)
            connections.append(connection)
    served_ms, begin_s, open_count = [], time.monotonic(), len(connections)
    left = len(connections)
    while left and time.monotonic() - begin_s < LONGEST_S:
        asked_s = time.monotonic()
        if server.get("/health")[0] == OK:
            served_ms.append(1000 * (time.monotonic() - asked_s))
        left = sum(is_open(connection) for connection in connections)
        time.sleep(0.2)
    took_s = time.monotonic() - begin_s
    server.stop()
    served_ms.sort()
    return (
        f"{open_count} slow connections: {left} left after {took_s:.0f} s; meanwhile {len(served_ms)} requests "
        f"of others served, median {served_ms[len(served_ms) // 2]:.1f} ms, worst {served_ms[-1]:.0f} ms"
    )


def page_load(folder: Path, traces: Sequence[Path]) -> str:
    """Requests a second on the list of 1,000 runs, a search, a run, its report and the audit, over 8 connections."""
    server = Server(folder / "data")
    address = send_patiently(server, traces[0])
    server.wait_until_ended()
    server.stop()
    _multiply(server.data, 1000)
    path = address.removeprefix(server.url)
    asked = {
        "list of 1,000 runs": "/",
        "search": "/?q=run+9",
        "run": path,
        "report": f"{path}/report",
        "audit": "/audit",
        "style": f"/assets/{asset_name('css')}",
    }
    told = []
    for name, place in asked.items():
        # a new server each time, for nobody may ask for more than 6,000 pages a minute
        server.start_again()
        told.append(f"{name} {load('127.0.0.1', server.port, place)}")
        server.stop()
    return "; ".join(told)


def _multiply(data: Path, run_count: int) -> None:
    """Rows like that of the one run, as many as that."""
    ledger = Ledger(DataFolder(data).ledger)
    with ledger.changing() as database:
        (row,) = list(database.query("select * from runs"))
        database.table("runs").insert_all(
            {
                **row,
                "id": f"{number:020x}",
                "key": None,
                "title": f"run {number}",
                "searched": f"run {number}",
                "report": None,
            }
            for number in range(run_count)
        )
    ledger.close()


def _real_and_hostile(folder: Path, traces: Sequence[Path], count: int) -> list[tuple[Path, str]]:
    """Files with what becomes of each; three of five are real."""
    folder.mkdir(parents=True)
    bomb, evil = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.sqlite", bytes(300 * MIB))
    with zipfile.ZipFile(evil, "w") as archive:
        archive.writestr("../../evil.sqlite", b"x")
    hostile = [
        bomb.getvalue(),
        evil.getvalue(),
        b"no report",
        os.urandom(MIB),
        b"SQLite format 3\x00" + os.urandom(5000),
    ]
    files = []
    for number in range(count):
        is_real = number % 5 in (0, 1, 2)
        data = traces[number % len(traces)].read_bytes() if is_real else hostile[number % len(hostile)]
        path = folder / f"{number}{'.sqlite' if is_real else '.bin'}"
        path.write_bytes(data)
        files.append((path, "done" if is_real else "failed"))
    return files


TRIALS: dict[str, Callable[[Path, Sequence[Path]], str]] = {
    "uploads": many_uploads,
    "large": lambda folder, _traces: large_upload(folder),
    "kills": killed,
    "disk": full_disk,
    "slow": lambda folder, _traces: slow_clients(folder),
    "load": page_load,
}


def main() -> None:
    """Run the trials that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", nargs="*", choices=[[], *TRIALS], help="which; all where none is named")
    parser.add_argument("--traces", type=Path, nargs="+", required=True, help="real reports to send")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for name in arguments.trials or TRIALS:
        with tempfile.TemporaryDirectory(prefix="nsysan-stress-") as folder:
            print(f"{name}: {TRIALS[name](Path(folder), arguments.traces)}", flush=True)


if __name__ == "__main__":
    main()
