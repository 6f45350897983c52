"""Commands of documents, run in this process: many of them share files, and none is slow."""

from __future__ import annotations

import io
import os
import shlex
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nsysan.cli.main import main


@dataclass
class Workplace:
    """A folder in which commands run, each once: of one that comes again what it printed is still known."""

    folder: Path
    printed: dict[str, str] = field(default_factory=dict)

    def run(self, command: str) -> str:
        """What the command prints; it must succeed."""
        if command not in self.printed:
            self.printed[command] = self._run(command)
        return self.printed[command]

    def _run(self, command: str) -> str:
        program, *arguments = shlex.split(command)
        assert program == "nsysan", f"only nsysan is run from documents, not {program}"
        before, shown = Path.cwd(), io.StringIO()
        os.chdir(self.folder)
        try:
            with pytest.MonkeyPatch.context() as patch, redirect_stdout(shown):
                patch.setenv("COLUMNS", "80")
                patch.setenv("NO_COLOR", "1")
                assert main(arguments) == 0, command
        finally:
            os.chdir(before)
        return shown.getvalue()
