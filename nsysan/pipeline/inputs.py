"""Which files a command line means: files as they are, folders as the reports they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nsysan.model.errors import InputError
from nsysan.model.text import visible_text

REPORT_SUFFIXES = (".sqlite", ".nsys-rep", ".qdrep")
"""What is taken from a folder; where an export lies beside its report, the export alone."""


def expand_inputs(paths: Iterable[Path]) -> list[Path]:
    """The report files behind ``paths``. Raises InputError where a folder holds none."""
    return [report for path in paths for report in (_reports_in(path) if path.is_dir() else (path,))]


def _reports_in(folder: Path) -> list[Path]:
    best: dict[str, Path] = {}
    for path in sorted(_candidates(folder), key=lambda path: REPORT_SUFFIXES.index(path.suffix.lower())):
        best.setdefault(path.stem, path)
    if not best:
        raise InputError(
            f"The folder {visible_text(str(folder))} holds no report.",
            f"Give a file, or a folder with files that end in {', '.join(REPORT_SUFFIXES)}.",
        )
    return sorted(best.values(), key=lambda path: _natural_order(path.name))


def _candidates(folder: Path) -> Iterator[Path]:
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise InputError(f"The folder {visible_text(str(folder))} cannot be read: {error.strerror}.") from error
    return (path for path in entries if path.suffix.lower() in REPORT_SUFFIXES and path.is_file())


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Numbers inside names by value, so that rank 10 follows rank 9."""
    pieces = re.findall(r"\d+|\D+", name)
    return [(int(piece), "") if piece.isdecimal() and piece.isascii() else (-1, piece) for piece in pieces]
