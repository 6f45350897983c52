"""Lines of a log as a reader sees them: without colours, and cut where a progress bar is drawn over itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

LONGEST_LINE_BYTES = 1 << 13
"""No line about a step is longer: what is, is left out."""
_CHUNK_BYTES = 1 << 16
_END = re.compile(rb"[\r\n]+")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def lines_of(file: BinaryIO, marks: Sequence[bytes]) -> Iterator[bytes]:
    """The lines with one of the marks, each up to a line feed or carriage return."""
    rest = b""
    for chunk in iter(lambda: file.read(_CHUNK_BYTES), b""):
        whole, rest = _cut(rest + chunk)
        # most of a log is about other things: what no line of a chunk has is not looked for in each
        present = [mark for mark in marks if mark in whole]
        if present:
            yield from (line for line in _END.split(whole) if _is_short(line) and _has_one(present, line))
    if _is_short(rest) and _has_one(marks, rest):
        yield rest


def _cut(text: bytes) -> tuple[bytes, bytes]:
    """The whole lines, and what a next chunk may go on with: of a line that is too long already, one byte too many."""
    end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    return text[:end], text[end : end + LONGEST_LINE_BYTES + 1]


def _has_one(marks: Sequence[bytes], line: bytes) -> bool:
    return any(mark in line for mark in marks)


def _is_short(line: bytes) -> bool:
    return 0 < len(line) <= LONGEST_LINE_BYTES


def shown(raw: bytes) -> str:
    """The line as a terminal shows it."""
    line = raw.decode("utf-8", "replace")
    return _COLOUR.sub("", line) if "\x1b" in line else line
