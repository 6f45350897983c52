"""Which files a command line means: files as they are, folders as the reports they hold, each content once."""

from __future__ import annotations

import filecmp
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from glob import glob, has_magic
from os.path import lexists
from pathlib import Path

from nsysan.ingest.arrow.folder import table_format
from nsysan.ingest.fingerprint import fingerprint_of
from nsysan.ingest.nsys.kept_export import KEPT_EXPORT_SUFFIX
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.model.errors import InputError
from nsysan.model.run import Note
from nsysan.model.text import display_text, natural_order, visible_text
from nsysan.model.trace import Fingerprint

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


def expand_patterns(paths: Iterable[Path]) -> list[Path]:
    """The paths, in place of one that is not there and has wildcards what it matches, in natural order.

    Shells do that as well, but not in quotes, in scripts of schedulers and for thousands of files. What matches nothing
    stays, to be refused by name.
    """
    return [match for path in paths for match in (_matches(path) if has_magic(str(path)) else ()) or (path,)]


def _matches(path: Path) -> list[Path]:
    if lexists(path):
        return []
    found = glob(str(path), recursive=True)  # noqa: PTH207 -- Path.glob takes no absolute pattern
    return sorted(map(Path, found), key=lambda match: natural_order(str(match)))


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
    alike: dict[object, list[Path]] = {}
    notes = []
    for path, marks in zip(paths, _marks(paths), strict=True):
        others = alike.setdefault(marks, [])
        original = next((other for other in others if _same_content(path, other)), None)
        if original is None:
            kept.append(path)
            others.append(path)
        else:
            names = f"{display_text(path.name)} and {display_text(original.name)}"
            notes.append(Note("same_content", f"{names} have the same content: it is counted once."))
    return kept, notes


def _marks(paths: Sequence[Path]) -> Iterator[object]:
    """What paths of the same content have in common, and few others, so that a thousand need no million comparisons."""
    sizes = [_size_bytes(path) for path in paths]
    counts = Counter(sizes)
    for path, size_bytes in zip(paths, sizes, strict=True):
        yield size_bytes if size_bytes is None or counts[size_bytes] == 1 else _fingerprint(path)


def _size_bytes(path: Path) -> int | None:
    """The size of a file, None of anything else and of what cannot be reached."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def _fingerprint(path: Path) -> Fingerprint | None:
    try:
        return fingerprint_of(path, hash_content=False)
    except OSError:
        # it is refused by name when it is its turn to be read
        return None


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
