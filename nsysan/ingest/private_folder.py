"""A folder of our own for what must be written to read an input; it goes away whatever happens.

After SIGKILL or a loss of power nothing can tidy up, so the next use does. Whether a folder still has an owner is told
by a lock, which the system takes back when a process ends, and not by a process id: /tmp is often shared by containers
that count processes apart.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from nsysan.model.errors import MissingToolError

MAKE_ROOM = "Free some space there, or set TMPDIR to a folder that has room."
_PREFIX = "nsysan-"
_LOCK = "owner.lock"


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only this user can open, removed at the end; those that a killed nsysan left go first.

    Raises MissingToolError where this machine has no place for it.
    """
    _remove_abandoned()
    try:
        folder = TemporaryDirectory(prefix=_PREFIX)
    except OSError as error:
        raise MissingToolError("There is no folder to put temporary files in.", MAKE_ROOM) from error
    with folder as name, _owned(Path(name)):
        yield Path(name)


def no_room() -> MissingToolError:
    """The error to raise where temporary files do not fit."""
    return MissingToolError(f"There is no room for temporary files in {gettempdir()}.", MAKE_ROOM)


@contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder; where the file system has none, the folder is never taken for abandoned."""
    descriptor = None
    with suppress(OSError):
        new = folder / f"{_LOCK}.new"
        descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # a lock is seen by its name only once it is held
        new.rename(folder / _LOCK)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _remove_abandoned() -> None:
    # without a place for temporary files there is nothing to remove; making the folder then says so
    with suppress(OSError):
        for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    """Whether the folder is this user's and has a lock that nobody holds; one that goes meanwhile is not."""
    try:
        if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
            return False
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
