"""The user's own nsys: where it is, which version, and what its exporter can do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from nsysan.model.errors import MissingToolError
from nsysan.model.text import display_text

ENVIRONMENT_VARIABLE = "NSYSAN_NSYS"
_VERSION = re.compile(r"version (\d+)\.(\d+)\.(\d+)\.(\d+)")
_NAME_NSYS = f"Give the path of nsys with --nsys or {ENVIRONMENT_VARIABLE}, or put it on PATH."

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NsysInstallation:
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
    """The nsys of ``given``, else of the environment variable, else of PATH; None where none of them names one.

    Raises MissingToolError where the one that is named cannot be run or is no nsys.
    """
    named = given or os.environ.get(ENVIRONMENT_VARIABLE) or None
    executable = shutil.which(named or "nsys")
    if executable is not None:
        return _ask(str(Path(executable).absolute()))
    if named is None:
        return None
    raise MissingToolError(f"{display_text(named)} is no program that can be run.", _NAME_NSYS)


def _ask(executable: str) -> NsysInstallation:
    version = _VERSION.search(_output(executable, "--version"))
    if version is None:
        raise MissingToolError(f"{display_text(executable)} does not answer as nsys does.", _NAME_NSYS)
    numbers = tuple(int(number) for number in version.groups())
    return NsysInstallation(executable, numbers, _output(executable, "export", "--help"))


def _output(executable: str, *arguments: str) -> str:
    command = [executable, *arguments]
    try:
        finished = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603 -- the user's own nsys
    except OSError as error:
        raise MissingToolError(f"{display_text(executable)} cannot be run: {error.strerror}.", _NAME_NSYS) from error
    return (finished.stdout + finished.stderr).decode("utf-8", "replace")
