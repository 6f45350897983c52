"""Which of the files of a run are its reports, and which tell more of it: by what they hold, as everywhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from nsysan.ingest import readers
from nsysan.ingest.evidence.reading import kinds_of
from nsysan.ingest.reader import Reader
from nsysan.ingest.recognition import examine
from nsysan.model.errors import InputError
from nsysan.model.registry import discover
from nsysan.model.text import display_text
from nsysan.pipeline.model_file import LARGEST_BYTES, read_model_file
from nsysan.service.unpacking.entry_names import Unpacked


class ToldApart(msgspec.Struct, frozen=True):
    """Reports, evidence, and what describes a model, each in the order of the files."""

    reports: tuple[Path, ...]
    evidence: tuple[Path, ...]
    models: tuple[Unpacked, ...]


def told_apart(found: Sequence[Unpacked], model: str | None = None) -> ToldApart:
    """What each file is. One that is nothing is taken for a report, which says what it is, unless an archive held it.

    The file called ``model`` describes a model, perhaps with keys that were given beside it. Where no file is a report
    all are taken for some. Raises InputError where archives held nothing but other things.
    """
    reports, evidence, models = [], [], []
    for file in found:
        if _is_report(file.path):
            reports.append(file.path)
        elif kinds_of(file.path):
            evidence.append(file.path)
        elif file.name == model or _describes_model(file.path):
            models.append(file)
        elif file.beside_in is None:
            reports.append(file.path)
    given = tuple(file.path for file in found if file.beside_in is None)
    if not reports and not given:
        archives = ", ".join(dict.fromkeys(display_text(file.beside_in or "") for file in found))
        raise InputError(
            f"The archive {archives} holds no report." if found else "The archives hold no report.",
            "It should hold files that end in .nsys-rep, .sqlite or .pt.trace.json.",
        )
    return ToldApart(tuple(reports), tuple(evidence), tuple(models)) if reports else ToldApart(given, (), ())


def _is_report(path: Path) -> bool:
    try:
        candidate = examine(path)
    except InputError:
        return False
    return any(reader.recognise(candidate) for reader in discover(readers, "READER", Reader))


def _describes_model(path: Path) -> bool:
    """Whether it is JSON that describes a model; arguments of Megatron stand in logs, which are evidence."""
    if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
        return False
    try:
        json.loads(path.read_bytes())
        read_model_file(path, ())
    except (InputError, ValueError, RecursionError):
        return False
    return True
