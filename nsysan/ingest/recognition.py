"""What a path leads to, and why it is refused where no reader knows it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsysan.ingest.lookalikes import look_of
from nsysan.ingest.reader import Candidate
from nsysan.model.errors import InputError
from nsysan.model.text import display_text, visible_text

_HEAD_BYTES = 512
_SHOWN_BYTES = 16
_GIVE_A_REPORT = "Give the .nsys-rep that nsys profile wrote, or an SQLite export of it."
_RECORD_AGAIN = "Record it again and let nsys end by itself; a job that is killed leaves an empty or partial report."


def examine(path: Path) -> Candidate:
    """The file or folder at ``path`` and its first bytes.

    Raises InputError where there is none, where it is a pipe or a device, cannot be read, or is empty.
    """
    shown = visible_text(str(path))
    if "\0" in str(path):
        raise InputError(f"{shown} is no path: it holds a zero byte.", _GIVE_A_REPORT)
    with readable(path):
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return Candidate(path, is_folder=True, size_bytes=0, head=b"")
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{shown} is no file but a {_kind(status.st_mode)}.", _GIVE_A_REPORT)
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    if not head:
        raise InputError(f"{shown} is empty: the capture did not finish.", _RECORD_AGAIN)
    return Candidate(path, is_folder=False, size_bytes=status.st_size, head=head)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what the operating system has against reading ``path`` into an InputError."""
    try:
        yield
    except OSError as error:
        raise _unreadable(visible_text(str(path)), error) from error


def refusal(candidate: Candidate) -> InputError:
    """Why no reader took the candidate: what it looks like, and what to do."""
    if candidate.is_folder:
        return InputError(f"{candidate.shown_name} is a folder, not a report.", "Give one of the reports in it.")
    look = look_of(candidate)
    begins = _shown_bytes(candidate.head)
    return InputError(
        f"{candidate.shown_name} is no Nsight Systems report or export but {look.what}; it begins with {begins}.",
        look.hint or _GIVE_A_REPORT,
    )


def _unreadable(shown: str, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"There is no file {shown}.", "Check the path.")
    if isinstance(error, PermissionError):
        return InputError(f"{shown} may not be read by this user.", "Ask its owner for read permission, or copy it.")
    return InputError(f"{shown} cannot be read: {error.strerror}.", "Check the path, and the file system it is on.")


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return kinds.get(stat.S_IFMT(mode), "special file")


def _shown_bytes(head: bytes) -> str:
    """The first bytes in quotes, all but printable ASCII spelt out."""
    return f'"{display_text(head[:_SHOWN_BYTES].decode("ascii", "backslashreplace"))}"'
