"""A folder of our own for what must be written to read an input; it goes away whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from nsysan.model.errors import MissingToolError

MAKE_ROOM = "Free some space there, or set TMPDIR to a folder that has room."


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only this user can open, removed at the end.

    Raises MissingToolError where this machine has no place for it.
    """
    try:
        folder = TemporaryDirectory(prefix="nsysan-")
    except OSError as error:
        raise MissingToolError("There is no folder to put temporary files in.", MAKE_ROOM) from error
    with folder as name:
        yield Path(name)


def no_room() -> MissingToolError:
    """The error to raise where temporary files do not fit."""
    return MissingToolError(f"There is no room for temporary files in {gettempdir()}.", MAKE_ROOM)
