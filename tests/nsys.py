"""The real nsys that tests compare with: NSYSAN_TEST_NSYS, NSYSAN_NSYS or PATH; a test that needs it skips without."""

from __future__ import annotations

import os
import shutil

import pytest


def find_nsys() -> str:
    """The path of a real nsys; skips the calling test where there is none."""
    found = os.environ.get("NSYSAN_TEST_NSYS") or os.environ.get("NSYSAN_NSYS") or shutil.which("nsys")
    if found is None:
        pytest.skip("no nsys on this machine: set NSYSAN_TEST_NSYS")
    return found
