"""Which files a command line means: files as they are, folders as the reports they hold, each content once."""

from __future__ import annotations

import filecmp
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from nsysan.ingest.arrow.folder import table_format
from nsysan.ingest.nsys.kept_export import KEPT_EXPORT_SUFFIX
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.model.errors import InputError
from nsysan.model.run import Note
from nsysan.model.text import display_text, natural_order, visible_text

REPORT_SUFFIXES = (".sqlite", ".nsys-rep", ".qdrep")
"""What is taken from a folder; where an export lies beside its report, the export alone."""
TORCH_SUFFIXES = (".pt.trace.json", ".pt.trace.json.gz", ".trace.json", ".trace.json.gz")
"""Traces of PyTorch's profiler, taken from a folder too; of one packed and unpacked, the unpacked alone."""
_SUFFIXES = (*REPORT_SUFFIXES, *TORCH_SUFFIXES)
_TABLE_FOLDER = re.compile(r"_(?:pqt|arw)dir$")
_KEPT_EXPORT = re.compile(rf"{re.escape(KEPT_EXPORT_SUFFIX)}$")


def expand_inputs(paths: Iterable[Path]) -> list[Path]:
    """The reports behind ``paths``: files, and folders of tables. Raises InputError where a folder holds none."""
    return [report for path in paths for report in (_reports_in(path) if _holds_reports(path) else (path,))]


def report_stem(path: Path) -> str:
    """The name of a report without its suffix, or of a folder as it is: what its page is named after."""
    # where a path ends in "..", only the file system knows the folder's name; the root folder has none
    named = path.resolve() if path.name == ".." else path.absolute()
    return named.name[: len(named.name) - len(_suffix(named) or "")] or "reports"


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


def _holds_reports(path: Path) -> bool:
    return _is_folder(path) and not _is_table_folder(path)


def _is_table_folder(path: Path) -> bool:
    return _is_folder(path) and table_format(path, TABLE_NAMES) is not None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # what cannot be reached is refused by name when it is its turn to be read
        return False


def _same_content(one: Path, other: Path) -> bool:
    try:
        if one.is_dir() and other.is_dir():
            return one.samefile(other)
        if not (one.is_file() and other.is_file()) or one.stat().st_size != other.stat().st_size:
            return False
        return one.samefile(other) or filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _reports_in(folder: Path) -> list[Path]:
    best: dict[str, Path] = {}
    for path in sorted(_candidates(folder), key=_preference):
        best.setdefault(_report_name(path), path)
    if not best:
        raise InputError(
            f"The folder {visible_text(str(folder))} holds no report.",
            f"Give a file, or a folder with files that end in {', '.join((*REPORT_SUFFIXES, *TORCH_SUFFIXES[2:]))}.",
        )
    return sorted(best.values(), key=lambda path: natural_order(path.name))


def _preference(path: Path) -> tuple[int, str]:
    """An export before a report; last what tools left beside a report, which may be stale or hold a part of it."""
    suffix = _suffix(path)
    is_left_behind = suffix is None or _KEPT_EXPORT.search(path.name)
    return len(_SUFFIXES) if is_left_behind else _SUFFIXES.index(suffix or ""), path.name


def _report_name(path: Path) -> str:
    if _suffix(path) in TORCH_SUFFIXES:
        # another profiler made it, so it is never the same capture as a report of that name
        return path.name.removesuffix(".gz")
    if _KEPT_EXPORT.search(path.name):
        return _KEPT_EXPORT.sub("", path.name)
    return path.stem if path.suffix.lower() in REPORT_SUFFIXES else _TABLE_FOLDER.sub("", path.name)


def _candidates(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if _is_report_file(path) or _is_table_folder(path)]
    except OSError as error:
        raise InputError(
            f"The folder {visible_text(str(folder))} cannot be read: {error.strerror}.", "Name its reports themselves."
        ) from error


def _is_report_file(path: Path) -> bool:
    return _suffix(path) is not None and path.is_file()
