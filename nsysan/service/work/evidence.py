"""Which of the files of a run are its reports, and which tell more of it: by what they hold, as everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nsysan.ingest import readers
from nsysan.ingest.evidence.reading import kinds_of
from nsysan.ingest.reader import Reader
from nsysan.ingest.recognition import examine
from nsysan.model.errors import InputError
from nsysan.model.registry import discover


def told_apart(paths: Sequence[Path]) -> tuple[list[Path], tuple[Path, ...]]:
    """Reports and evidence, each in their order. What is neither is taken for a report, which says what it is.

    Where no file is a report all are taken for some.
    """
    evidence = tuple(path for path in paths if not _is_report(path) and kinds_of(path))
    reports = [path for path in paths if path not in evidence]
    return (reports, evidence) if reports else (list(paths), ())


def _is_report(path: Path) -> bool:
    try:
        candidate = examine(path)
    except InputError:
        return False
    return any(reader.recognise(candidate) for reader in discover(readers, "READER", Reader))
