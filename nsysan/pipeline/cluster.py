"""Reports read by the workers of a Dask cluster, a task each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from nsysan.model.errors import InputError, MissingToolError, UsageError
from nsysan.model.text import visible_text
from nsysan.pipeline.report_tasks import Failure, Order, Outcome, Reading, outcome_of, read_packed

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE = "30s"
"""How long a scheduler may take to answer, and a cluster may be without any worker."""
_LOOK = "1s"
"""How often it is looked whether there is any."""
_LOST = "the workers that read it were lost"


def reading_on(address: str) -> Reading:
    """Reads reports on the cluster whose scheduler is there; its workers need nsysan and the same files.

    A worker that is lost costs the report that it reads at most: another one reads it, until that has killed several,
    and then once more when all others are done.
    Whatever else fails there costs that report, by name. Raises MissingToolError where dask.distributed is not
    installed or the scheduler is lost, UsageError where nobody answers or there is nobody to work.
    """

    def read(paths: Sequence[Path], options: Order) -> Iterator[Outcome]:
        with _client(address) as client:
            tasks = [_Task(client, path, options, f"nsysan-{place}-{path.name}") for place, path in enumerate(paths)]
            for place, task in enumerate(tasks, start=1):
                # it may only have stood in the queues of workers that another report killed
                done = task.again_after(tasks[place:]) if task.was_killed() else task
                yield done.outcome()
                options.progress.begin(f"{place} of {len(paths)} reports are read")
                done.future.release()  # type: ignore[no-untyped-call]  # it has no types

    return read


class _Task:
    """The reading of one report, from now on."""

    def __init__(self, client: Client, path: Path, options: Order, key: str) -> None:
        self._client, self._path, self._options, self._key = client, path, options, key
        self.future = client.submit(read_packed, str(path.absolute()), options, pure=False, key=key)

    def again_after(self, others: Sequence[_Task]) -> _Task:
        """The same reading once more, when the others are done."""
        for other in others:
            _wait(self._client, other.future)
        return _Task(self._client, self._path, self._options, f"{self._key}-again")

    def was_killed(self) -> bool:
        """Whether several workers were lost that had the task; waits until it is done."""
        from distributed.scheduler import KilledWorker

        return isinstance(self._error(), KilledWorker)

    def outcome(self) -> Outcome:
        """What the worker handed back, or why nothing; waits until it is done."""
        error = self._error()
        if error is None:
            return outcome_of(self.future.result())
        if self.was_killed():
            return Failure(
                _LOST, InputError(f"The report could not be read: {_LOST}.", "Give the workers more memory.")
            )
        failed = f"the worker that read it failed ({type(error).__name__}: {visible_text(str(error))})"
        return Failure(
            failed, InputError(f"The report could not be read: {failed}.", "Do workers have the same nsysan?")
        )

    def _error(self) -> BaseException | None:
        _wait(self._client, self.future)
        error: BaseException | None = self.future.exception()  # type: ignore[no-untyped-call]  # it has no types
        return error


def _client(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise MissingToolError(
            "--scheduler needs dask.distributed, which is not installed.", "Install nsysan with the extra: cluster."
        ) from None
    try:
        return Client(address, timeout=_PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]  # it has no types
    except (OSError, ValueError) as error:
        raise UsageError(
            f"No Dask scheduler answers at {visible_text(address)}.", "Give the address that dask scheduler prints."
        ) from error


def _wait(client: Client, future: Future[Any]) -> None:
    """Until the future is done; a cluster that stays without a worker would let it wait for ever.

    For a moment it may have none: lost ones are started anew.
    """
    from dask.utils import parse_timedelta

    working_s = monotonic()
    while not _ends_soon(future):
        if client.scheduler_info()["workers"]:
            working_s = monotonic()
        elif monotonic() - working_s >= parse_timedelta(_PATIENCE):
            raise UsageError("The Dask cluster has no worker.", "Start some with dask worker, then try again.")
    if future.cancelled():  # type: ignore[no-untyped-call]  # it has no types
        raise MissingToolError(
            "The Dask scheduler was lost before all reports were read.", "See why it ended, then try again."
        )


def _ends_soon(future: Future[Any]) -> bool:
    from distributed import TimeoutError as NotYetError

    try:
        future.exception(timeout=_LOOK)  # type: ignore[no-untyped-call]  # it has no types
    except NotYetError:
        return False
    return True
