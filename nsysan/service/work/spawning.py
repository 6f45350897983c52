"""A process for an analysis: started with its order, read line by line, and ended with all that it started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from nsysan.service.work.order import LONGEST_LINE_BYTES, Order, Told, decode_told, encode_line

MARK = "NSYSAN_WORK"
"""The variable by which every process that works for a server is known: it names the folder it works in."""
COMPLAINTS = "stderr.txt"
_UNWIND_S = 5.0
_LOGGED_BYTES = 4000


class Worker:
    """A running process. It is in a session of its own, and its temporary files are in its folder."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder

    async def told(self) -> AsyncIterator[Told]:
        """What it tells, until it ends."""
        assert self._process.stdout is not None
        with suppress(ValueError):  # a line without an end
            async for line in self._process.stdout:
                if (message := decode_told(line)) is not None:
                    yield message

    def complaints(self) -> str:
        """The end of what it said on standard error."""
        return (self._folder / COMPLAINTS).read_bytes()[-_LOGGED_BYTES:].decode("utf-8", "replace")

    async def exit_code(self) -> int:
        """How it ended; the negative number of a signal where one ended it."""
        return await self._process.wait()

    async def end(self) -> None:
        """End it: kindly, so that it can end the nsys that it may have started, then by force; and what outlives it."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._process.wait(), _UNWIND_S)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        end_strays(self._folder)
        await self._process.wait()


async def start_worker(order: Order) -> Worker:
    """The process that works on this order, in the order's folder."""
    folder = Path(order.folder)
    with (folder / COMPLAINTS).open("wb") as complaints:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "nsysan.service.work.process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=complaints,
            env={**os.environ, "TMPDIR": str(folder), MARK: str(folder)},
            start_new_session=True,
            limit=LONGEST_LINE_BYTES,
        )
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(encode_line(order))
        await process.stdin.drain()
    return Worker(process, folder)


def end_strays(folder: Path) -> int:
    """How many processes that work in the folder, or below it, were still there: none is any more.

    Only Linux tells; elsewhere they end by themselves when they notice that the server is gone.
    """
    ended = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            variables = (process / "environ").read_bytes().split(b"\0")
            marks = [entry.partition(b"=")[2] for entry in variables if entry.startswith(MARK.encode() + b"=")]
            if any(Path(os.fsdecode(mark)).is_relative_to(folder) for mark in marks):
                os.kill(int(process.name), signal.SIGKILL)
                ended += 1
    return ended
