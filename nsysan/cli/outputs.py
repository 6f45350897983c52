"""Writing what was asked for: all of it or nothing, and never over a file that is not nsysan's own."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import click

from nsysan.model.errors import NsysanError, UsageError
from nsysan.model.text import visible_text

STDOUT = Path("-")
"""Names standard output where a file is asked for."""
RECOGNISED_BYTES = 4096
OWN_MARKS = (b'<meta name="generator" content="nsysan', b'"nsysan_version":', b"Written by nsysan ")
"""What the first bytes of a page and of a ``run.json``, and the last of a text, hold."""
_ELSEWHERE = "Choose another place for it."


class StandardOutputError(NsysanError):
    """Standard output takes nothing, or nothing more, for a reason other than that its reader has left."""

    exit_code = 3


def print_result(result: str | bytes, *, is_kept: bool = False) -> None:
    """Print what was asked for.

    Raises StandardOutputError where standard output is closed, unless ``is_kept`` says that files hold it, too.
    """
    # click, like Python itself, would drop it without a word
    if sys.stdout is None and not is_kept:
        raise StandardOutputError("Standard output is closed, and the result goes there.", "Open it, or name a file.")
    click.echo(result, nl=False)


def check_places(paths: Collection[Path | None], *, force: bool, inputs: Collection[Path]) -> None:
    """Refuse before any work what ``write_all`` would refuse after it; STDOUT and None need no place.

    A file is begun beside each target, and gone again. Raises as ``write_all`` does.
    """
    from nsysan.output.failure import writing
    from nsysan.output.staging import part_file

    for path in paths:
        if path not in (None, STDOUT):
            with writing(path, _ELSEWHERE):
                _check(path, force=force, inputs=inputs)
                with part_file(path):
                    pass


def write_all(contents: Mapping[Path, bytes], *, force: bool, inputs: Collection[Path]) -> None:
    """Write every file whole, or none: each is written beside its target, and only then takes its name.

    nsysan's own outputs are replaced; any other file only with ``force``, and an input never. Raises UsageError, or
    MissingToolError where there is no room.
    """
    from nsysan.output.failure import writing
    from nsysan.output.staging import all_or_none

    for path in contents:
        with writing(path, _ELSEWHERE):
            _check(path, force=force, inputs=inputs)
    with all_or_none(contents, _ELSEWHERE) as parts:
        for path, data in contents.items():
            with writing(path, _ELSEWHERE):
                parts[path].write_bytes(data)


def _check(path: Path, *, force: bool, inputs: Collection[Path]) -> None:
    name = visible_text(str(path))
    if not path.exists():
        return
    if any(source.exists() and _is_part_of(path, source) for source in inputs):
        raise UsageError(f"{name} is an input: nsysan never writes over one.", "Choose another name for the output.")
    if not path.is_file():
        raise UsageError(f"{name} is there and no ordinary file.", "Choose another name for the output.")
    if not force and not _is_own(path):
        raise UsageError(f"{name} is there and was not written by nsysan.", "Choose another name, or give --force.")


def _is_part_of(path: Path, source: Path) -> bool:
    """Whether the file is the input, or one of the files of an input that is a folder."""
    return path.samefile(source) or (source.is_dir() and path.parent.samefile(source))


def _is_own(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(RECOGNISED_BYTES)
        file.seek(max(path.stat().st_size - RECOGNISED_BYTES, 0))
        tail = file.read()
    return any(mark in head or mark in tail for mark in OWN_MARKS)
