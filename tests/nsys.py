"""The real nsys that tests compare with: NSYSAN_TEST_NSYS, NSYSAN_NSYS or PATH; a test that needs it skips without."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from nsysan.ingest.nsys.alone import profiling_alone

_ATTEMPTS = 3


def find_nsys() -> str:
    """The path of a real nsys; skips the calling test where there is none."""
    found = os.environ.get("NSYSAN_TEST_NSYS") or os.environ.get("NSYSAN_NSYS") or shutil.which("nsys")
    if found is None:
        pytest.skip("no nsys on this machine: set NSYSAN_TEST_NSYS")
    return found


def profile_ranges(folder: Path, *command: str, environment: Mapping[str, str] | None = None) -> Path:
    """The report of the NVTX ranges of a command that runs in ``folder``; no other test profiles meanwhile.

    Once in some hundred profiles on a busy machine nsys 2023.4 fails before it has started the command, or ends well
    and has written no report: asked again then.
    """
    report = folder / "rank0.nsys-rep"
    asked = [find_nsys(), "profile", "-t", "nvtx", "--sample=none", "--cpuctxsw=none", "-o", "rank0", *command]
    said = []
    for _ in range(_ATTEMPTS):
        with profiling_alone():
            done = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0 and report.exists():
            return report
        said.append(f"{done.returncode}: {done.stdout}{done.stderr}")
    raise AssertionError(f"nsys recorded nothing, {_ATTEMPTS} times: {said}")
