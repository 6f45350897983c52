"""How many requests a second a server answers, asked over connections that stay open: a small wrk.

python benchmarks/page_load.py http://127.0.0.1:8470 / /audit [--connections 8] [--seconds 5]

A client asks again as soon as it has its answer. It shares the machine with the server and takes a good part of it: the
server alone answers more.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

OK = 200
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass
class Load:
    """What came of it: how long each answer of 200 took, and how many others there were by status."""

    seconds: float
    took_ms: list[float] = field(default_factory=list)
    others: Counter[int] = field(default_factory=Counter)

    def __str__(self) -> str:
        if not self.took_ms:
            return f"no answer of 200: {dict(self.others)}"
        ordered = sorted(self.took_ms)
        median_ms, late_ms = ordered[len(ordered) // 2], ordered[99 * len(ordered) // 100]
        others = f", others {dict(self.others)}" if self.others else ""
        rate = len(ordered) / self.seconds
        return f"{rate:.0f}/s, median {median_ms:.1f} ms, p99 {late_ms:.1f} ms, worst {ordered[-1]:.0f} ms{others}"


def load(host: str, port: int, path: str, *, connections: int = 8, seconds: float = 5.0) -> Load:
    """Ask for the path over so many connections at once for so long."""
    found = Load(seconds)

    async def ask_all() -> None:
        until_s = time.monotonic() + seconds
        await asyncio.gather(*(_ask_on(found, (host, port), path, until_s) for _ in range(connections)))

    asyncio.run(ask_all())
    return found


async def _ask_on(found: Load, place: tuple[str, int], path: str, until_s: float) -> None:
    reader, writer = await asyncio.open_connection(*place, limit=1 << 20)
    request = f"GET {path} HTTP/1.1\r\nHost: {place[0]}:{place[1]}\r\n\r\n".encode()
    while time.monotonic() < until_s:
        begin_s = time.monotonic()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        await reader.readexactly(int(length[1]) if length else 0)
        status = int(head.split(b" ", 2)[1])
        if status == OK:
            found.took_ms.append(1000 * (time.monotonic() - begin_s))
        else:
            found.others[status] += 1
    writer.close()


def main() -> None:
    """Print a line a path."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="of the server, such as http://127.0.0.1:8470")
    parser.add_argument("paths", nargs="+", help="what to ask for")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    place = urlsplit(arguments.url)
    for path in arguments.paths:
        told = load(
            place.hostname or "127.0.0.1",
            place.port or 80,
            path,
            connections=arguments.connections,
            seconds=arguments.seconds,
        )
        print(f"{path}: {told}", flush=True)


if __name__ == "__main__":
    main()
