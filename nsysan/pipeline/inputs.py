"""Which files a command line means: files as they are, folders as the reports they hold, each content once."""

from __future__ import annotations

import filecmp
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from nsysan.model.errors import InputError
from nsysan.model.run import Note
from nsysan.model.text import display_text, visible_text

REPORT_SUFFIXES = (".sqlite", ".nsys-rep", ".qdrep")
"""What is taken from a folder; where an export lies beside its report, the export alone."""
TORCH_SUFFIXES = (".pt.trace.json", ".pt.trace.json.gz", ".trace.json", ".trace.json.gz")
"""Traces of PyTorch's profiler, taken from a folder too; of one packed and unpacked, the unpacked alone."""
_SUFFIXES = (*REPORT_SUFFIXES, *TORCH_SUFFIXES)


def expand_inputs(paths: Iterable[Path]) -> list[Path]:
    """The report files behind ``paths``. Raises InputError where a folder holds none."""
    return [report for path in paths for report in (_reports_in(path) if _is_folder(path) else (path,))]


def report_stem(path: Path) -> str:
    """The name of a report without its suffix, or of a folder as it is: what its page is named after."""
    named = path.absolute()
    return named.name[: len(named.name) - len(_suffix(named) or "")]


def _suffix(path: Path) -> str | None:
    return next((suffix for suffix in _SUFFIXES if path.name.lower().endswith(suffix)), None)


def without_copies(paths: Sequence[Path]) -> tuple[list[Path], list[Note]]:
    """The paths whose content is not that of an earlier one, and a note for each that was left out."""
    kept: list[Path] = []
    notes = []
    for path in paths:
        original = next((other for other in kept if _same_content(path, other)), None)
        if original is None:
            kept.append(path)
        else:
            names = f"{display_text(path.name)} and {display_text(original.name)}"
            notes.append(Note("same_content", f"{names} have the same content: it is counted once."))
    return kept, notes


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # what cannot be reached is refused by name when it is its turn to be read
        return False


def _same_content(one: Path, other: Path) -> bool:
    try:
        if not (one.is_file() and other.is_file()) or one.stat().st_size != other.stat().st_size:
            return False
        return one.samefile(other) or filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _reports_in(folder: Path) -> list[Path]:
    best: dict[tuple[bool, str], Path] = {}
    for path in sorted(_candidates(folder), key=_preference):
        best.setdefault((_suffix(path) in TORCH_SUFFIXES, report_stem(path)), path)
    if not best:
        raise InputError(
            f"The folder {visible_text(str(folder))} holds no report.",
            f"Give a file, or a folder with files that end in {', '.join((*REPORT_SUFFIXES, *TORCH_SUFFIXES[2:]))}.",
        )
    return sorted(best.values(), key=lambda path: _natural_order(path.name))


def _preference(path: Path) -> tuple[int, Path]:
    return _SUFFIXES.index(_suffix(path) or ""), path


def _candidates(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if _suffix(path) is not None and path.is_file()]
    except OSError as error:
        raise InputError(
            f"The folder {visible_text(str(folder))} cannot be read: {error.strerror}.", "Name its reports themselves."
        ) from error


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Numbers inside names by value, so that rank 10 follows rank 9."""
    pieces = re.findall(r"\d+|\D+", name, re.ASCII)
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pieces]
