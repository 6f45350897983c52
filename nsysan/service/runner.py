"""Takes runs from the queue, has each analysed by a process of its own, and puts the results where they belong."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import suppress
from pathlib import Path

from nsysan.service.folder import DataFolder, remove_tree, settle, size_of_tree
from nsysan.service.ledger import Ledger
from nsysan.service.queue import Claim, Queue
from nsysan.service.runs import Runs
from nsysan.service.settings import Settings
from nsysan.service.work.endings import GIVEN_UP, NO_DISK_LEFT, ending_of, out_of_disk, out_of_time
from nsysan.service.work.order import RESULT, Analysed, Doing, Failed, Order, OrderedFile
from nsysan.service.work.spawning import Worker, end_strays, start_worker

_LOG = logging.getLogger("nsysan.service.runner")
_IDLE_S = 5.0
"""So often the queue is looked at even if nobody says that there is something in it."""
_WATCH_S = 0.5


class Runner:
    """As many analyses at once as there are workers; ``doing`` tells what each is at."""

    def __init__(self, ledger: Ledger, folder: DataFolder, runs: Runs, queue: Queue, settings: Settings) -> None:
        self._ledger = ledger
        self._folder = folder
        self._runs = runs
        self._queue = queue
        self._settings = settings
        self._work_came = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: dict[str, Worker] = {}
        self.doing: dict[str, Doing] = {}

    def start(self) -> None:
        """Begin to take runs; whatever a server that died left running is ended first."""
        if strays := end_strays(self._folder.work):
            _LOG.warning("ended strays", extra={"count": strays})
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._settings.worker_count)]

    def wake(self) -> None:
        """Say that there is something in the queue."""
        self._work_came.set()

    async def interrupt(self, run_id: str) -> None:
        """End the analysis of the run, if there is one: the ledger no longer wants it."""
        if (worker := self._workers.get(run_id)) is not None:
            await worker.end()

    async def stop(self) -> None:
        """End all analyses; their runs wait in the queue, in their old places."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            claim = None
            try:
                self._work_came.clear()
                claim = await asyncio.to_thread(self._queue.claim)
                if claim is not None:
                    await self._analyse(claim)
                    continue
            except Exception:  # noqa: BLE001 -- whatever it was is logged
                # no room for the ledger, for instance; the other runs must have their turn
                _LOG.exception("work failed", extra={"run": None if claim is None else claim.run_id})
                if claim is not None:
                    await self._give_up(claim)
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._work_came.wait(), _IDLE_S)

    async def _give_up(self, claim: Claim) -> None:
        """Have the ledger tell that the run failed, as soon as it takes anything."""
        while True:
            try:
                await asyncio.to_thread(self._queue.fail, claim, GIVEN_UP.message, GIVEN_UP.hint)
            except sqlite3.Error:  # noqa: PERF203 -- it waits here
                await asyncio.sleep(_IDLE_S)
            else:
                return

    async def _analyse(self, claim: Claim) -> None:
        folder = self._folder.work / claim.name
        _LOG.info("analysis begins", extra={"run": claim.run_id, "attempt": claim.attempt})
        self.doing[claim.run_id] = Doing("starting")
        try:
            order = await asyncio.to_thread(self._order, claim, folder)
            ending = await self._run(claim, order)
            await asyncio.to_thread(self._settle, claim, ending)
        except asyncio.CancelledError:
            self._queue.put_back(claim)
            raise
        finally:
            self.doing.pop(claim.run_id, None)
            await asyncio.shield(asyncio.to_thread(remove_tree, folder))

    def _order(self, claim: Claim, folder: Path) -> Order:
        remove_tree(folder)
        folder.mkdir(mode=0o700)
        limits = self._settings.worker
        files = tuple(
            OrderedFile(str(self._folder.capture(file.sha256)), file.name) for file in self._runs.files(claim.run_id)
        )
        return Order(
            files=files,
            said=dict(self._runs.said_of(claim.run_id)),
            folder=str(folder),
            unpacked_bytes=self._settings.unpacking.unpacked_bytes,
            entries=self._settings.unpacking.entries,
            memory_bytes=limits.memory_bytes,
            cpu_s=limits.cpu_s,
            file_bytes=limits.disk_bytes,
            nsys=self._settings.nsys,
        )

    async def _run(self, claim: Claim, order: Order) -> Analysed | Failed:
        """What the process tells in the end, or why it did not."""
        worker = self._workers[claim.run_id] = await start_worker(order)
        watching = asyncio.create_task(self._watch(claim, Path(order.folder)))
        listening = asyncio.create_task(self._listen(claim, worker))
        try:
            await asyncio.wait({watching, listening}, return_when=asyncio.FIRST_COMPLETED)
            return await listening if listening.done() else await watching
        finally:
            watching.cancel()
            listening.cancel()
            del self._workers[claim.run_id]
            await asyncio.shield(worker.end())

    async def _listen(self, claim: Claim, worker: Worker) -> Analysed | Failed:
        ending: Analysed | Failed | None = None
        async for told in worker.told():
            if isinstance(told, Doing):
                self.doing[claim.run_id] = told
            else:
                ending = told
        exit_code = await worker.exit_code()
        if exit_code:
            said = worker.complaints()
            _LOG.warning("worker ended", extra={"run": claim.run_id, "exit_code": exit_code, "said": said})
        return ending or ending_of(exit_code, self._settings.worker.cpu_s)

    async def _watch(self, claim: Claim, folder: Path) -> Failed:
        """Why the analysis may not go on, once that is so."""
        limits, waited_s = self._settings.worker, 0.0
        while waited_s < limits.wall_s:
            await asyncio.sleep(_WATCH_S)
            waited_s += _WATCH_S
            if await asyncio.to_thread(size_of_tree, folder) > limits.disk_bytes:
                return out_of_disk(limits.disk_bytes)
            if self._folder.free_bytes() < self._settings.uploads.free_bytes // 2:
                return NO_DISK_LEFT
        _LOG.warning("analysis takes too long", extra={"run": claim.run_id})
        return out_of_time(limits.wall_s)

    def _settle(self, claim: Claim, ending: Analysed | Failed) -> None:
        """Have the folder and the ledger hold what came of it; whoever sees that it ended sees all of that."""
        work, report = self._folder.work / claim.name, self._folder.reports / claim.name
        if isinstance(ending, Analysed):
            (work / RESULT).rename(report)
            settle(self._folder.reports)
        remove_tree(work)
        is_wanted = False
        try:
            with self._ledger.alone():
                is_wanted = self._end(claim, ending)
        finally:
            if not is_wanted:
                remove_tree(report)

    def _end(self, claim: Claim, ending: Analysed | Failed) -> bool:
        """Whether the ledger took this ending; captures that are not to be kept are gone with it."""
        if isinstance(ending, Analysed):
            is_wanted = self._queue.finish(claim, ending.summary)
            discards = self._settings.discard_captures
            _LOG.info("analysis done", extra={"run": claim.run_id, "is_wanted": is_wanted})
        else:
            is_wanted = self._queue.fail(claim, ending.message, ending.hint)
            discards = ending.is_dangerous
            _LOG.info("analysis failed", extra={"run": claim.run_id, "is_wanted": is_wanted, "why": ending.message})
        if is_wanted and discards:
            self._runs.discard_captures(claim.run_id)
        return is_wanted
