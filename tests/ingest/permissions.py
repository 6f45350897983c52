"""Another user for a while: root may read and write anything, so permissions are tested as nobody."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Run the body as a user with no rights; skips the test where this process is not root and cannot change."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
