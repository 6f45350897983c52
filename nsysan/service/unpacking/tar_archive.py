"""The files in a tar archive, plain or packed with gzip."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsysan.model.text import display_text
from nsysan.service.unpacking.budget import PACK_AGAIN, Budget, Counted, DangerousArchiveError, copy
from nsysan.service.unpacking.entry_names import Places, checked

GZIP_MAGIC = b"\x1f\x8b"
_MARK, _MARK_AT = b"ustar", 257
HEAD_BYTES = 512


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar archive."""
    return head[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK


def unpack_tar(archive: Path, places: Places, budget: Budget) -> None:
    """Put the files down. Raises DangerousArchiveError before anything is written, or where the budget is spent.

    The archive is gone through twice: a tar has no table of contents.
    """
    with _opened(archive, Budget(budget.limits)) as looked_through:
        for entry in looked_through:
            budget.enter()
            _check(entry)
    with _opened(archive, budget) as opened:
        for entry in opened:
            place = places.of(checked(entry.name), entry.size) if entry.isreg() else None
            source = None if place is None else opened.extractfile(entry)
            if place is not None and source is not None:
                with source, place.open("xb") as target:
                    # a sparse file is longer than what is in the archive
                    copy(Counted(source, budget) if entry.issparse() else source, target)


@contextmanager
def _opened(archive: Path, budget: Budget) -> Iterator[tarfile.TarFile]:
    with archive.open("rb") as file:
        is_packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        stream = gzip.GzipFile(fileobj=file) if is_packed else file
        counted = Counted(stream, budget)
        with tarfile.open(fileobj=counted, mode="r|") as opened:  # type: ignore[call-overload]  # it only reads
            yield opened


def _check(entry: tarfile.TarInfo) -> None:
    checked(entry.name)
    if not (entry.isreg() or entry.isdir()):
        name = display_text(entry.name)
        raise DangerousArchiveError(f"The archive's entry {name!r} is a link or a device, not a file.", PACK_AGAIN)
