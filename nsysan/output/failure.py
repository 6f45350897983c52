"""What the operating system or SQLite has against a file, as an error with a sentence and an exit code."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsysan.model.errors import MissingToolError, NsysanError, UsageError
from nsysan.model.prose import uncapitalized
from nsysan.model.text import visible_text

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_SQLITE_FULL = "database or disk is full"


@contextmanager
def writing(path: Path, elsewhere: str) -> Iterator[None]:
    """Raise the error of what stands against writing ``path`` in the block; ``elsewhere`` is what to try instead.

    A MissingToolError where there is no room, for nothing is wrong with the command line then; else a UsageError.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise _failure(path, error, elsewhere) from error


def _failure(path: Path, error: OSError | sqlite3.Error, elsewhere: str) -> NsysanError:
    if isinstance(error, OSError):
        why, is_full = error.strerror or type(error).__name__, error.errno in _NO_ROOM
    else:
        why = str(error)
        is_full = why == _SQLITE_FULL
    sentence = f"Cannot write {visible_text(str(path))}: {why}."
    if is_full:
        return MissingToolError(sentence, f"Make room there, or {uncapitalized(elsewhere)}")
    return UsageError(sentence, elsewhere)
