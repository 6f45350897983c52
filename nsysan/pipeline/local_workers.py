"""Reports read by processes of this machine, where that is worth their start."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from msgspec.structs import replace

from nsysan.model.errors import InputError
from nsysan.model.progress import UNWATCHED
from nsysan.pipeline.report_tasks import Failure, Order, Outcome, outcome_of, read_here, read_packed

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

WORTH_S = 3.0
"""Where one process reads everything in less, others are not worth their start, which takes most of a second."""
_EXPORT_S, _EXPORT_BYTES_PER_S = 0.015, 250e6
"""What an export in SQLite takes, however short, and how much of it is read a second: see benchmarks/RESULTS.md."""
_OTHER_S, _OTHER_BYTES_PER_S = 0.5, 20e6
"""Of what has to be exported or parsed first; that need be right no further than that it takes long."""
_LOST = "the process that read it was lost"


def read_locally(paths: Sequence[Path], options: Order) -> Iterator[Outcome]:
    """Each report as a task of as many processes as there are cores, or one by one in this where that is as quick."""
    count = min(len(paths), _core_count())
    if count <= 1 or sum(map(_estimated_s, paths)) < WORTH_S:
        return read_here(paths, options)
    return read_by_processes(paths, options, count)


def read_by_processes(paths: Sequence[Path], options: Order, count: int) -> Iterator[Outcome]:
    """The reports read by so many processes.

    One that is lost costs the report that it read, if one is lost again where nothing else is read meanwhile: two large
    reports may have been too much for the machine's memory at once.
    """
    with ExitStack() as stack:
        idle: SimpleQueue[_Reader] = SimpleQueue()
        for _ in range(count):
            idle.put(stack.enter_context(closing(_Reader(options))))
        found: list[Outcome | None] = []
        with ThreadPoolExecutor(count) as threads:
            for outcome in threads.map(lambda path: _read_by(idle, path), paths):
                found.append(outcome)
                options.progress.begin(f"{len(found)} of {len(paths)} reports are read")
        for path, outcome in zip(paths, found, strict=True):
            yield outcome or _read_by(idle, path) or _failure()


def _read_by(idle: SimpleQueue[_Reader], path: Path) -> Outcome | None:
    """What a process that is idle reads; None where it is lost."""
    reader = idle.get()
    try:
        return reader.read(path)
    finally:
        idle.put(reader)


def _failure() -> Failure:
    return Failure(_LOST, InputError(f"The report could not be read: {_LOST}.", "Free memory, then try again."))


class _Reader:
    """A process that reads one report after the other; where it is lost another takes its place with the next one."""

    def __init__(self, options: Order) -> None:
        self._options = replace(options, progress=UNWATCHED)
        self._connection: Connection | None = None

    def read(self, path: Path) -> Outcome | None:
        """What the process hands back; None where it ends before it does."""
        self._connection = self._connection or self._begin()
        try:
            self._connection.send(str(path.absolute()))
            return outcome_of(self._connection.recv())
        except (EOFError, OSError):
            self.close()
            return None

    def _begin(self) -> Connection:
        # a process forked from this one might hold a lock of another thread for ever
        context: SpawnContext | ForkServerContext = get_context("spawn")
        if "forkserver" in get_all_start_methods():
            context = get_context("forkserver")
            context.set_forkserver_preload([__name__])
        own, its = context.Pipe()
        context.Process(target=_serve, args=(its, self._options), daemon=True).start()
        its.close()
        return own

    def close(self) -> None:
        """The process sees the other end of its pipe closed, and ends."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _serve(orders: Connection, options: Order) -> None:
    """Reads what is ordered, until nobody orders any more; an interrupt of the terminal ends it without a word."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        while True:
            orders.send(read_packed(orders.recv(), options))
    except (EOFError, OSError, KeyboardInterrupt):
        orders.close()


def _core_count() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _estimated_s(path: Path) -> float:
    """How long it takes to read, by its name and size."""
    try:
        size_bytes = path.stat().st_size
    except OSError:
        # it is refused by name when it is its turn to be read
        return 0.0
    is_export = path.suffix.lower() == ".sqlite"
    least_s, rate = (_EXPORT_S, _EXPORT_BYTES_PER_S) if is_export else (_OTHER_S, _OTHER_BYTES_PER_S)
    return least_s + size_bytes / rate
