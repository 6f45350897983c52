"""The real nsys that tests compare with: NSYSAN_TEST_NSYS, NSYSAN_NSYS or PATH; a test that needs it skips without."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from nsysan.ingest.nsys.alone import profiling_alone


def find_nsys() -> str:
    """The path of a real nsys; skips the calling test where there is none."""
    found = os.environ.get("NSYSAN_TEST_NSYS") or os.environ.get("NSYSAN_NSYS") or shutil.which("nsys")
    if found is None:
        pytest.skip("no nsys on this machine: set NSYSAN_TEST_NSYS")
    return found


def profile_ranges(folder: Path, *command: str, environment: Mapping[str, str] | None = None) -> Path:
    """The report of the NVTX ranges of a command that runs in ``folder``; no other test profiles meanwhile."""
    asked = [find_nsys(), "profile", "-t", "nvtx", "--sample=none", "--cpuctxsw=none", "-o", "rank0", *command]
    with profiling_alone():
        subprocess.run(asked, cwd=folder, env=environment, check=True, capture_output=True)
    return folder / "rank0.nsys-rep"
