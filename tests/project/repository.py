"""The checkout that the tests of the project run in."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@cache
def tracked_files() -> tuple[str, ...]:
    """Paths of the files that belong to the project, new ones not yet committed included; skips outside a checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return tuple(sorted({path for path in listing.stdout.split("\0") if path and (ROOT / path).is_file()}))
