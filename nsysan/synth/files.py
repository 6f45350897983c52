"""The files of a synthetic job: exports and truth, written where nothing else is in the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from nsysan.model.errors import UsageError
from nsysan.model.text import visible_text
from nsysan.output.failure import writing
from nsysan.output.staging import all_or_none, folder_for
from nsysan.synth import kineto
from nsysan.synth.generate import Generated
from nsysan.synth.tables.metadata import SYNTHETIC_MARK
from nsysan.synth.truth.job_truth import SYNTHESIZED_BY, decode_truth, encode_truth

_TRUTH_SUFFIX = ".truth.json"
_HEAD_BYTES = 512
_ELSEWHERE = "Choose another folder."


def write(generated: Generated, folder: Path) -> list[Path]:
    """Write exports and truth into ``folder``, which is made if need be, and answer their paths.

    Files of earlier runs are replaced, all of them together. Raises UsageError, and writes nothing, where another file
    is in the way, MissingToolError where there is no room.
    """
    truth_path = folder / f"{generated.name}{_TRUTH_SUFFIX}"
    exports = {folder / file: export for file, export in generated.exports.items()}
    paths = [*exports, truth_path]
    with writing(folder, _ELSEWHERE):
        _check(folder, paths)
        with folder_for(folder), all_or_none(paths, _ELSEWHERE) as parts:
            for path, export in exports.items():
                with writing(path, _ELSEWHERE):
                    export.write(parts[path])
            with writing(truth_path, _ELSEWHERE):
                parts[truth_path].write_bytes(encode_truth(generated.truth))
    return paths


def _check(folder: Path, paths: Sequence[Path]) -> None:
    """Raise UsageError where something is in the way."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{visible_text(str(folder))} is no folder.", _ELSEWHERE)
    for path in paths:
        if path.exists() and not _is_synthetic(path):
            raise UsageError(f"{visible_text(str(path))} is there and is no synthetic file.", _ELSEWHERE)


def _is_synthetic(path: Path) -> bool:
    """Whether an earlier run wrote the file."""
    if not path.is_file():
        return False
    if path.name.endswith(_TRUTH_SUFFIX):
        return _is_truth(path)
    return _is_synthetic_trace(path) if path.suffix == ".json" else _is_synthetic_export(path)


def _is_synthetic_trace(path: Path) -> bool:
    with path.open("rb") as file:
        return kineto.SYNTHETIC_MARK.encode() in file.read(_HEAD_BYTES)


def _is_synthetic_export(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as connection:
            question = "SELECT count(*) FROM META_DATA_EXPORT WHERE name = ?"
            return bool(connection.execute(question, (SYNTHETIC_MARK,)).fetchone()[0])
    except sqlite3.Error:
        return False


def _is_truth(path: Path) -> bool:
    try:
        return decode_truth(path.read_bytes()).synthesized_by == SYNTHESIZED_BY
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
