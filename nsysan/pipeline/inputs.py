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
TORCH_SUFFIXES = (".trace.json", ".trace.json.gz")
"""What PyTorch's profiler writes, taken from a folder too; the unpacked one of two alone."""
_TORCH_NAME = re.compile(r"(?P<stem>.+?)(?:\.pt)?\.trace\.json(?:\.gz)?", re.IGNORECASE | re.DOTALL)


def expand_inputs(paths: Iterable[Path]) -> list[Path]:
    """The report files behind ``paths``. Raises InputError where a folder holds none."""
    return [report for path in paths for report in (_reports_in(path) if path.is_dir() else (path,))]


def report_stem(path: Path) -> str:
    """The name of a report without all that says its format: rank0 of rank0.pt.trace.json.gz."""
    torch = _TORCH_NAME.fullmatch(path.name)
    return path.stem if torch is None else torch["stem"]


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


def _same_content(one: Path, other: Path) -> bool:
    if not (one.is_file() and other.is_file()) or one.stat().st_size != other.stat().st_size:
        return False
    try:
        return one.samefile(other) or filecmp.cmp(one, other, shallow=False)
    except OSError:
        # what cannot be read is refused by name when it is its turn to be read
        return False


def _reports_in(folder: Path) -> list[Path]:
    best: dict[tuple[bool, str], Path] = {}
    for path in sorted(_candidates(folder), key=_preference):
        best.setdefault((_is_torch_trace(path), report_stem(path)), path)
    if not best:
        raise InputError(
            f"The folder {visible_text(str(folder))} holds no report.",
            f"Give a file, or a folder with files that end in {', '.join((*REPORT_SUFFIXES, *TORCH_SUFFIXES))}.",
        )
    return sorted(best.values(), key=lambda path: _natural_order(path.name))


def _candidates(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(
            f"The folder {visible_text(str(folder))} cannot be read: {error.strerror}.", "Name its reports themselves."
        ) from error
    return [path for path in entries if (_is_torch_trace(path) or _is_nsys_file(path)) and path.is_file()]


def _is_torch_trace(path: Path) -> bool:
    return _TORCH_NAME.fullmatch(path.name) is not None


def _is_nsys_file(path: Path) -> bool:
    return path.suffix.lower() in REPORT_SUFFIXES


def _preference(path: Path) -> int:
    """Lower is better, of two files of one capture."""
    return REPORT_SUFFIXES.index(path.suffix.lower()) if _is_nsys_file(path) else path.suffix.lower() == ".gz"


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Numbers inside names by value, so that rank 10 follows rank 9."""
    pieces = re.findall(r"\d+|\D+", name, re.ASCII)
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pieces]
