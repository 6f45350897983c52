"""A run that was saved as ``run.json``, or is made of reports just now."""

from __future__ import annotations

from pathlib import Path

from nsysan.model.errors import InputError
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.run import Run
from nsysan.model.run_json import decode_run
from nsysan.model.text import visible_text
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.inputs import expand_inputs
from nsysan.pipeline.result_types import result_types
from nsysan.report.soundness import flaw_of

LARGEST_RUN_BYTES = 1 << 28
MAKE_IT = "Make it with: nsysan analyze REPORT --json run.json"
_HEAD_BYTES = 4096
_MARK = b'"nsysan_version":'


def load_run(path: Path) -> Run:
    """The saved run. Raises InputError where it cannot be read, is none, or holds what no run can."""
    run, name = decode_run(_read(path), result_types()), visible_text(str(path))
    if flaw := flaw_of(run):
        raise InputError(f"{name} holds what no run can: {flaw}.", MAKE_IT)
    return run


def run_of(path: Path, options: AnalyzeOptions, progress: Progress = UNWATCHED) -> Run:
    """The saved run at ``path``, else the Run of the report, or folder of reports, that lies there."""
    return load_run(path) if is_saved_run(path) else analyze(expand_inputs([path]), options, progress)


def is_saved_run(path: Path) -> bool:
    """Whether the file names the nsysan that wrote it where a ``run.json`` does."""
    try:
        with path.open("rb") as file:
            return _MARK in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _read(path: Path) -> bytes:
    name = visible_text(str(path))
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{name} is no file.", MAKE_IT)
        if path.stat().st_size > LARGEST_RUN_BYTES:
            raise InputError(f"{name} is too large for a run.json.", MAKE_IT)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {name}: {error.strerror}.", MAKE_IT) from error
