"""Reports read by the workers of a Dask cluster, a task each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsysan.ingest.reading import ReadOptions
from nsysan.model.errors import InputError, MissingToolError, UsageError
from nsysan.model.text import visible_text
from nsysan.pipeline.report_tasks import Failure, Outcome, Reading, outcome_of, read_packed

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE = "30s"
_LOST = "the workers that read it were lost"


def reading_on(address: str) -> Reading:
    """Reads reports on the cluster whose scheduler is there; its workers need nsysan and the same files.

    A worker that is lost costs the report that it reads at most: another one reads it, until that has killed several.
    Raises MissingToolError where dask.distributed is not installed, UsageError where nobody answers.
    """

    def read(paths: Sequence[Path], options: ReadOptions) -> Iterator[Outcome]:
        with _client(address) as client:
            futures = [
                client.submit(read_packed, str(path.absolute()), options, pure=False, key=f"nsysan-{place}-{path.name}")
                for place, path in enumerate(paths)
            ]
            for place, future in enumerate(futures, start=1):
                yield _outcome(future)
                options.progress.begin(f"{place} of {len(paths)} reports are read")
                future.release()

    return read


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


def _outcome(future: Future[Any]) -> Outcome:
    from distributed.scheduler import KilledWorker

    try:
        return outcome_of(future.result())
    except KilledWorker:
        return Failure(_LOST, InputError(f"The report could not be read: {_LOST}.", "Give the workers more memory."))
