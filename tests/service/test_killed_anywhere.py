"""Killed at any line, a server leaves a folder in which the next one finds everything whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.project.repository import ROOT

IN_MEMORY = Path("/dev/shm")
STEP = 37
"""Every so many lines: with 1 it takes minutes, and was found to hold."""


def test_wherever_a_server_is_killed_the_next_finds_all_whole(tmp_path: Path) -> None:
    # what is killed is the process and not the machine, so that memory will do, and takes a tenth of the time
    with TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else tmp_path) as folder:
        program = [sys.executable, "-m", "tests.service.killed", folder, str(STEP)]
        finished = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)

    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) > 30
