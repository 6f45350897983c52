"""The one folder in which a server keeps everything. Every name in it is made here, and none comes from a client."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from nsysan.model.errors import UsageError
from nsysan.model.text import visible_text
from nsysan.output.failure import writing
from nsysan.service.refusals import NoRoom


class DataFolder(msgspec.Struct, frozen=True):
    """Where what lies: the ledger, uploads under way, captures by content, reports, and what workers work in."""

    root: Path

    @property
    def ledger(self) -> Path:
        """The SQLite file that knows what all the other files are; one that it does not know is nobody's."""
        return self.root / "ledger.sqlite"

    @property
    def uploads(self) -> Path:
        """Uploads, each under its id; how long a file is says how far it has come."""
        return self.root / "uploads"

    @property
    def captures(self) -> Path:
        """Files as they were uploaded, each content once, under its SHA-256."""
        return self.root / "captures"

    @property
    def reports(self) -> Path:
        """A folder for each finished run, with its page and its run.json."""
        return self.root / "reports"

    @property
    def work(self) -> Path:
        """A folder for each analysis under way, removed with everything in it when that ends."""
        return self.root / "work"

    def capture(self, sha256: str) -> Path:
        """Where this content lies, if it does."""
        return self.captures / sha256[:2] / sha256

    def make(self) -> None:
        """Make what is not there yet, open to this user alone. Raises UsageError where that is not possible."""
        with writing(self.root, "Name another folder with --data."):
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.uploads, self.captures, self.reports, self.work):
                folder.mkdir(exist_ok=True, mode=0o700)

    def free_bytes(self) -> int:
        """What the disk has left."""
        return shutil.disk_usage(self.root).free

    def demand_room(self, for_bytes: int, floor_bytes: int) -> None:
        """Raise NoRoom where so many bytes more would leave less than the floor."""
        if self.free_bytes() - for_bytes < floor_bytes:
            raise NoRoom("The server's disk is too full for this.", "Ask whoever runs it to make room, then try again.")

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Hold the folder for this process alone. Raises UsageError where another server holds it."""
        descriptor = os.open(self.root / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise UsageError(
                f"Another server works in {visible_text(str(self.root))}.", "Stop it, or name another folder."
            ) from error
        try:
            yield
        finally:
            os.close(descriptor)


def settle(path: Path) -> None:
    """Have the disk hold what the file or folder holds, whatever becomes of the power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Remove the folder or file and all in it; what is gone already is gone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def size_of_tree(folder: Path) -> int:
    """The bytes that the files in the folder take on the disk, however deep; what vanishes meanwhile counts nothing."""
    total_bytes = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 -- thousands of files, each second
                total_bytes += status.st_blocks * 512 if status.st_nlink == 1 else 0
    return total_bytes
