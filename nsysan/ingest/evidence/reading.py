"""A file of evidence becomes what it tells, by what it holds; one file may be of several kinds."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from nsysan.ingest.evidence import kinds
from nsysan.ingest.evidence.kind import SAMPLE_BYTES, EvidenceKind
from nsysan.ingest.recognition import readable
from nsysan.ingest.stillness import unchanged
from nsysan.model.errors import InputError
from nsysan.model.evidence import Evidence, EvidenceItem
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.registry import discover
from nsysan.model.text import visible_text

_HEAD_BYTES = 64


def read_evidence(paths: Sequence[Path], progress: Progress = UNWATCHED, *, keep_identity: bool = False) -> Evidence:
    """What the files tell, in their order. Raises InputError where one cannot be read or is of no known kind.

    Each item bears the name of its file; of files with one name, which their folders alone tell apart, the second is
    ``train.log (2)``.
    """
    labelled = zip(paths, _labels([path.name for path in paths]), strict=True)
    return Evidence(tuple(item for path, label in labelled for item in _items_of(path, label, progress)), keep_identity)


def kinds_of(path: Path) -> tuple[EvidenceKind, ...]:
    """Every kind that the file is of, by how it begins and ends; none where it is no file, or of no known kind."""
    sample = _sample(path) if path.is_file() else b""
    return tuple(kind for kind in _known_kinds() if kind.recognise(sample))


def _known_kinds() -> tuple[EvidenceKind, ...]:
    """In order of module name."""
    return discover(kinds, "KIND", EvidenceKind)


def _labels(names: Sequence[str]) -> list[str]:
    """The names, each of those that come again with its number; folders are left out, for they tell who ran a job."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(name if counts[name] == 1 else f"{name} ({seen[name]})")
    return labels


def _items_of(path: Path, label: str, progress: Progress) -> list[EvidenceItem]:
    shown = visible_text(str(path))
    progress.begin(f"reading {shown}")
    with unchanged(path), readable(path):
        _demand_content(path, shown)
        found = kinds_of(path)
        if not found:
            _refuse_wide_text(path, shown)
            known = ", ".join(kind.what for kind in _known_kinds())
            raise InputError(f"{shown} is no evidence that nsysan knows.", f"It reads {known}.")
        items = [item for kind in found for item in kind.read(path, label)]
        if not items:
            what = " or ".join(kind.what for kind in found)
            raise InputError(f"{shown} begins like {what}, but holds no figure of it.", "Give the whole file.")
        return items


def _demand_content(path: Path, shown: str) -> None:
    size_bytes = path.stat().st_size  # raises where there is nothing
    if not path.is_file():
        raise InputError(f"{shown} is no file, so it is no evidence.", "Name the files themselves, one by one.")
    if not size_bytes:
        raise InputError(f"{shown} is empty: it tells nothing.", "Leave it out, or make it again.")


def _refuse_wide_text(path: Path, shown: str) -> None:
    """Text of two bytes a character, as PowerShell's ``>`` writes it: no kind is recognised in it."""
    head = _sample(path)[:_HEAD_BYTES]
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if marked or any(_is_every_other_zero(head, first) for first in (0, 1)):
        raise InputError(
            f"{shown} is text in UTF-16, and evidence is read as UTF-8.",
            "Convert it: iconv -f UTF-16 -t UTF-8 FILE > CONVERTED.",
        )


def _is_every_other_zero(head: bytes, first: int) -> bool:
    """Whether every other byte from ``first`` on is zero and no other is: the first characters are ASCII."""
    return len(head) > 1 and not any(head[first::2]) and all(head[1 - first :: 2])


def _sample(path: Path) -> bytes:
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
        if len(sample) == SAMPLE_BYTES:
            # what a program writes of its steps may follow long after what it writes as it starts
            file.seek(max(SAMPLE_BYTES, path.stat().st_size - SAMPLE_BYTES))
            sample += file.read(SAMPLE_BYTES)
    return sample
