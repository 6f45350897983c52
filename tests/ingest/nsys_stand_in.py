"""A stand-in for nsys: a shell script that answers as its versions do, and exports or fails as told."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

REPORT_HEAD = b"NVIDIA Tegra Profiler Report 2023@4@4@54-234433681190v0.\n\x0bLocal (CLI)"
HELP_2023 = "--tables=<pattern>[,<pattern>...]\n\t-q, --quiet="
HELP_2022 = "\t-q, --quiet="
HELP_2026 = f"{HELP_2023}\n--include-blobs=\n--include-json="

# the output path is the argument after -o; arguments are kept, one a line
_SCRIPT = """#!/bin/sh
case "$*" in
--version) echo "NVIDIA Nsight Systems version {version}-234433681190v0"; exit 0;;
"export --help") printf '%s\\n' {help}; exit 0;;
esac
printf '%s\\n' "$@" > {arguments}
printf '%s' "$TMPDIR" > {arguments}.tmpdir
out=
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
{action}
"""


class StandIn:
    """The script, and what it was called with the last time."""

    def __init__(
        self, folder: Path, action: str, *, version: str = "2023.4.4.54", export_help: str = HELP_2023
    ) -> None:
        self.executable = folder / "nsys"
        self._arguments = folder / "arguments"
        script = _SCRIPT.format(
            version=version, help=shlex.quote(export_help), arguments=shlex.quote(str(self._arguments)), action=action
        )
        self.executable.write_text(script)
        self.executable.chmod(0o755)

    def arguments(self) -> list[str]:
        """The arguments of the export."""
        return self._arguments.read_text().splitlines()

    def was_asked(self) -> bool:
        """Whether an export was asked for."""
        return self._arguments.exists()


def copies(export: Path) -> str:
    """The action of an nsys whose export is this file."""
    return f'cp {shlex.quote(str(export))} "$out"'


def fails(exit_code: int, stderr: str, *, leaves: str | None = None) -> str:
    """The action of an nsys that says ``stderr``, leaves a file with that text behind, and exits."""
    left = "" if leaves is None else f"printf '%s' {shlex.quote(leaves)} > \"$out\"; "
    return f"{left}printf '%s\\n' {shlex.quote(stderr)} >&2; exit {exit_code}"
