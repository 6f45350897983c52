"""Writing what was asked for: all of it or nothing, and never over a file that is not nsysan's own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from nsysan.model.errors import UsageError
from nsysan.model.text import visible_text

RECOGNISED_BYTES = 4096
OWN_MARKS = (b'<meta name="generator" content="nsysan', b'"nsysan_version":')
"""What the first bytes of a page, and of a ``run.json``, hold."""


def write_all(contents: Mapping[Path, bytes], *, force: bool, inputs: Iterable[Path]) -> None:
    """Write every file whole, or none: each is written beside its target and then takes its name.

    nsysan's own outputs are replaced; any other file only with ``force``, and an input never. Raises UsageError.
    """
    for path in contents:
        _refuse(path, force=force, inputs=inputs)
    staged: dict[Path, Path] = {}
    try:
        for path, data in contents.items():
            staged[path] = _stage(path, data)
        for path, temporary in list(staged.items()):
            temporary.replace(path)
            del staged[path]
    except OSError as error:
        raise UsageError(
            f"Cannot write {visible_text(str(path))}: {error.strerror}.", "Choose another place."
        ) from error
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)


def _refuse(path: Path, *, force: bool, inputs: Iterable[Path]) -> None:
    name = visible_text(str(path))
    if not path.exists():
        return
    if any(source.exists() and path.samefile(source) for source in inputs):
        raise UsageError(
            f"{name} is an input: nsysan never writes over a report.", "Choose another name for the output."
        )
    if not path.is_file():
        raise UsageError(f"{name} is there and no ordinary file.", "Choose another name for the output.")
    if not force and not _is_own(path):
        raise UsageError(f"{name} is there and was not written by nsysan.", "Choose another name, or give --force.")


def _is_own(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(RECOGNISED_BYTES)
    return any(mark in head for mark in OWN_MARKS)


def _stage(path: Path, data: bytes) -> Path:
    """The data in a new file beside its target, with the rights a new file would have."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".nsysan-", suffix=".part")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    mask = os.umask(0)
    os.umask(mask)
    temporary = Path(name)
    temporary.chmod(0o666 & ~mask)
    return temporary
