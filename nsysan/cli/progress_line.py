"""The line on a terminal that says what is being done, how fast, and how long it takes."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.text import visible_text

PATIENCE_S = 2.0
"""What takes no longer is not worth a line."""
_BETWEEN_S = 0.2
_ERASE_LINE = "\r\x1b[K"


@contextmanager
def watching(*, quiet: bool) -> Iterator[Progress]:
    """Whoever watches: a line on standard error where that is a terminal."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield UNWATCHED
        return
    line = ProgressLine(sys.stderr, shutil.get_terminal_size().columns)
    try:
        yield line
    finally:
        line.end()


class ProgressLine(Progress):
    """One line of a terminal, rewritten at most five times a second, from two seconds after the start on."""

    def __init__(self, stream: TextIO, width: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._width = width
        self._now_s = now_s
        self._next_s = now_s() + PATIENCE_S
        self._is_shown = False
        self._begin_phase("", None)

    def begin(self, doing: str, row_count: int | None = None) -> None:
        """Show that this begins."""
        self._begin_phase(doing, row_count)
        self._show()

    def advance(self, row_count: int) -> None:
        """Show how far it is."""
        self._done_count += row_count
        self._show()

    def end(self) -> None:
        """Leave an empty line."""
        if self._is_shown:
            self._stream.write(_ERASE_LINE)
            self._stream.flush()
            self._is_shown = False

    def _begin_phase(self, doing: str, row_count: int | None) -> None:
        self._doing, self._row_count, self._done_count, self._begun_s = doing, row_count, 0, self._now_s()

    def _show(self) -> None:
        now_s = self._now_s()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _BETWEEN_S
        line = visible_text(self._line(now_s - self._begun_s))[: self._width - 1]
        self._stream.write(_ERASE_LINE + line)
        self._stream.flush()
        self._is_shown = True

    def _line(self, took_s: float) -> str:
        parts = [self._doing]
        if self._done_count:
            of_all = "" if self._row_count is None else f" of {_millions(self._row_count)}"
            parts.append(f"{_millions(self._done_count)}{of_all} rows")
        if self._done_count and took_s > 0:
            rate = self._done_count / took_s
            parts.append(f"{_millions(rate)} rows/s")
            if self._row_count is not None:
                parts.append(f"{max(self._row_count - self._done_count, 0) / rate:.0f} s left")
        return ", ".join(parts)


def _millions(count: float) -> str:
    return f"{count / 1e6:.1f} M"
