"""Ceilings out of what other benchmarks printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nsysan.hardware.merging import merge
from nsysan.hardware.nccl_tests_curves import ceilings_of_tests
from nsysan.ingest.benchmarks.importer import importers
from nsysan.ingest.evidence.kinds import nccl_tests
from nsysan.model.ceilings import Ceilings
from nsysan.model.errors import InputError
from nsysan.model.nccl_tests import NcclTest
from nsysan.model.text import visible_document, visible_text

_MOST_BYTES = 64 << 20


def import_ceilings(paths: Sequence[Path], gpu: str | None) -> Ceilings:
    """The ceilings in all of these outputs. ``gpu`` is the GPU of those that do not tell.

    Raises InputError where one is of no tool that is known, UsageError where they are of different GPUs.
    """
    return merge([_imported(path, gpu) for path in paths])


def _imported(path: Path, gpu: str | None) -> Ceilings:
    data = _read(path)
    if nccl_tests.KIND.recognise(data):
        items = nccl_tests.KIND.read(path, path.name)
        return ceilings_of_tests([item for item in items if isinstance(item, NcclTest)], gpu)
    text = visible_lines(data.decode("utf-8", "replace"))
    found = (importer.read(text, gpu) for importer in importers())
    ceilings = next((one for one in found if one is not None), None)
    if ceilings is None:
        tools = ", ".join(["nccl-tests", *(importer.tool for importer in importers())])
        raise InputError(
            f"{visible_text(path.name)} is no output of a benchmark that nsysan reads.", f"It reads those of: {tools}."
        )
    return ceilings


def visible_lines(text: str) -> str:
    """The text with nothing in it that could hide, but for the ends of its lines; some tools rewrite a line."""
    lines: list[str] = visible_document(text.replace("\r", "\n").replace("\t", " ").split("\n"))
    return "\n".join(lines)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"Cannot read {visible_text(str(path))}: {error.strerror}.") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{visible_text(path.name)} is too large for what a benchmark prints.")
    return data
