"""An input must hold still while it is read: half of one report and half of another would be no trace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsysan.model.errors import InputError
from nsysan.model.text import visible_text

SIDE_FILE_SUFFIXES = ("-wal", "-journal")
"""What SQLite appends to a database's name for changes that are not in it yet, or may have to be undone."""

_State = tuple[int, int, int] | None


def side_files(path: Path) -> tuple[Path, ...]:
    """Where changes to the database at ``path`` would wait; SQLite puts them beside the file a link leads to."""
    real = os.path.realpath(path)
    return tuple(Path(real + suffix) for suffix in SIDE_FILE_SUFFIXES)


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise InputError where the file, or changes waiting beside it, are not the same after the body as before.

    Of a folder, the files in it are watched.

    A failure of the body is then blamed on the change, too.
    """
    before = _states(path)
    failure: InputError | None = None
    try:
        yield
    except InputError as error:
        failure = error
    if _states(path) != before:
        raise InputError(
            f"{visible_text(str(path))} changed while it was read.",
            "Wait until whatever writes it has finished, then try again.",
        ) from failure
    if failure is not None:
        raise failure


def _states(path: Path) -> list[_State]:
    watched = sorted(path.iterdir()) if path.is_dir() else side_files(path)
    return [_state(file) for file in (path, *watched)]


def _state(path: Path) -> _State:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
