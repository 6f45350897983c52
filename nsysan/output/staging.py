"""Files written beside their targets, which take their names together once all of them are complete."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

from nsysan.output.failure import writing
from nsysan.output.published import publish

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def part_file(target: Path) -> Iterator[Path]:
    """A new, empty file beside ``target`` that only this user can open, gone in the end where it was not moved."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".nsysan-", suffix=".part")
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def all_or_none(targets: Collection[Path], elsewhere: str) -> Iterator[dict[Path, Path]]:
    """By target the file to write instead; they become the targets where the block ends well, else nothing is left.

    The files have the rights that any new file would have. Raises as ``writing`` does, whose ``elsewhere`` this is.
    """
    with ExitStack() as stack:
        parts = {}
        for target in targets:
            with writing(target, elsewhere):
                parts[target] = stack.enter_context(part_file(target))
        yield parts
        _publish(parts, elsewhere)


@contextmanager
def folder_for(path: Path) -> Iterator[None]:
    """Make the folder if need be, for a block that writes into it; where the block fails, what was made goes again."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def _publish(parts: Mapping[Path, Path], elsewhere: str) -> None:
    mask = os.umask(0)
    os.umask(mask)
    with _uninterrupted():
        for target, part in parts.items():
            with writing(target, elsewhere):
                part.chmod(0o666 & ~mask)
                publish(part, target)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let no signal part a set of files: one that comes now comes too late, for everything is written."""
    if threading.current_thread() is not threading.main_thread():  # which alone is told of signals
        yield
        return
    previous = {number: signal.signal(number, _ignore) for number in _ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: SIG_IGN would be handed down to processes that are started meanwhile."""
