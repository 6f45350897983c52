"""The user's own nsys: where it is, which version, and what its exporter can do."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from nsysan.ingest.nsys.supervision import StalledError, export_patience_s, run
from nsysan.model.errors import MissingToolError
from nsysan.model.text import display_text

ENVIRONMENT_VARIABLE = "NSYSAN_NSYS"
_VERSION = re.compile(r"version (\d+)\.(\d+)\.(\d+)\.(\d+)")
_ANSWER_S = 10.0
"""For its version or help, unless it is at work; a first start from a slow disk takes seconds."""
_NAME_NSYS = f"Give the path of nsys with --nsys or {ENVIRONMENT_VARIABLE}, or put it on PATH."

INSTALLED_AT = (
    "/opt/nvidia/nsight-systems*/bin/nsys",
    "/opt/nvidia/nsight-systems*/target-linux-*/nsys",
    "/opt/nvidia/nsight-systems*/*/bin/nsys",
    "/opt/nvidia/nsight-systems*/*/target-linux-*/nsys",
    "/usr/local/cuda*/bin/nsys",
    "/usr/lib/nsight-systems/bin/nsys",
)
"""Where the installers of NVIDIA and of distributions put nsys."""

Version = tuple[int, ...]


class NsysInstallation(msgspec.Struct, frozen=True):
    """An nsys that can be run; ``export_help`` is what it says about ``nsys export``."""

    executable: str
    version: Version
    export_help: str

    @property
    def shown_version(self) -> str:
        """The version as nsys writes it: ``2023.4.4.54``."""
        return shown_version(self.version)

    def can(self, option: str) -> bool:
        """Whether its exporter knows the long option, ``--tables`` for instance."""
        return re.search(rf"{re.escape(option)}\b", self.export_help) is not None


def shown_version(version: Version) -> str:
    """The version with dots."""
    return ".".join(map(str, version))


def find_nsys(given: str | None) -> NsysInstallation | None:
    """The nsys that ``given`` or else the environment variable names, else the newest there is; None where none is.

    The newest is the one to take: an nsys reads the reports of every earlier one, and of no later one. It is sought
    on PATH and where installers put it. Raises MissingToolError where the one that is named, or every one that was
    found, cannot be run or is no nsys.
    """
    named = given or os.environ.get(ENVIRONMENT_VARIABLE) or None
    if named is None:
        return _newest(_executables())
    executable = shutil.which(named)
    if executable is None:
        raise MissingToolError(f"{display_text(named)} is no program that can be run.", _NAME_NSYS)
    executable = str(Path(executable).absolute())
    return _installation(executable, _version_of(executable))


def every_nsys(given: str | None) -> list[tuple[str, Version | MissingToolError]]:
    """Each executable that ``find_nsys`` chooses from with its version or why it cannot be used, the newest first."""
    named = given or os.environ.get(ENVIRONMENT_VARIABLE) or None
    executables = _executables() if named is None else [shutil.which(named) or named]
    answers = [(executable, _answer(executable)) for executable in executables]
    return sorted(answers, key=lambda entry: () if isinstance(entry[1], Exception) else entry[1], reverse=True)


def _newest(executables: Iterable[str]) -> NsysInstallation | None:
    answers = {executable: _answer(executable) for executable in executables}
    versions = {executable: answer for executable, answer in answers.items() if not isinstance(answer, Exception)}
    if answers and not versions:
        raise next(answer for answer in answers.values() if isinstance(answer, Exception))
    # of equal versions the first, that of PATH
    newest = max(versions, key=lambda executable: versions[executable], default=None)
    return None if newest is None else _installation(newest, versions[newest])


def _answer(executable: str) -> Version | MissingToolError:
    try:
        return _version_of(executable)
    except MissingToolError as failure:
        return failure


def _executables() -> list[str]:
    """Every nsys on PATH, then those at the usual places, each file once."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    on_path = (shutil.which("nsys", path=folder) for folder in folders if folder)
    installed = (path for pattern in INSTALLED_AT for path in sorted(glob.glob(pattern)) if os.access(path, os.X_OK))  # noqa: PTH207 -- the pattern is absolute
    found = (str(Path(path).absolute()) for path in (*on_path, *installed) if path is not None)
    return list({os.path.realpath(path): path for path in reversed(list(found))}.values())[::-1]


def _installation(executable: str, version: Version) -> NsysInstallation:
    return NsysInstallation(executable, version, _output(executable, "export", "--help"))


def _version_of(executable: str) -> Version:
    version = _VERSION.search(_output(executable, "--version"))
    if version is None:
        raise MissingToolError(f"{display_text(executable)} does not answer as nsys does.", _NAME_NSYS)
    return tuple(int(number) for number in version.groups())


def _output(executable: str, *arguments: str) -> str:
    """What the program prints; it is run again only when the file has changed, for there may be a thousand reports."""
    try:
        status = Path(executable).stat()
        return _run_once((executable, *arguments), (status.st_ino, status.st_size, status.st_mtime_ns))
    except OSError as error:
        raise MissingToolError(f"{display_text(executable)} cannot be run: {error.strerror}.", _NAME_NSYS) from error
    except StalledError as error:
        asked = f"{display_text(executable)} {' '.join(arguments)}"
        raise MissingToolError(
            f"{asked} did not end within {error.stalled_s:.0f} s and was ended.", _NAME_NSYS
        ) from error


@lru_cache(maxsize=64)
def _run_once(command: tuple[str, ...], _state: tuple[int, int, int]) -> str:
    finished = run(command, min(_ANSWER_S, export_patience_s() or _ANSWER_S))
    return (finished.stdout + finished.stderr).decode("utf-8", "replace")
