"""One profile at a time on this machine."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def profiling_alone() -> Iterator[None]:
    """Wait until no other process of this user profiles, and keep it so.

    Two profiles at once measure each other; and where several start together, nsys 2023.4 fails once in some sixty
    starts, before the command runs.
    """
    path = Path(tempfile.gettempdir()) / f"nsysan-profile-{os.getuid()}.lock"
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
