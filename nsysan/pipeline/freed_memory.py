"""Memory that arrays give back and that the next ones take: fetched from the system anew, it costs a fault a page."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""What ``mallopt`` of glibc calls them."""
_KEPT_BYTES = 1 << 28
_LARGEST_BYTES = (1 << 30, 1 << 25)
"""An array that is larger goes back to the system at once; older versions of glibc refuse the first of these."""


def keep_freed_memory() -> None:
    """Make this process keep what it frees, up to 256 MiB at the end of its heap.

    Nothing happens without glibc, and where glibc refuses: it would then ask the system for each array of 128 KiB.

    Analyses make and drop columns of some MB by the thousand. Of 10 M kernels a sixth of the CPU time was the system's,
    which handed the same pages out again and again.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None and any(mallopt(_MMAP_THRESHOLD, most_bytes) for most_bytes in _LARGEST_BYTES):
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
