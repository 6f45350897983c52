"""What a process may take of the machine, told to the system before it does anything."""

from __future__ import annotations

import resource

_GRACE_S = 10
"""After SIGXCPU, which a program may catch, so many seconds of CPU time until SIGKILL."""


def limit_process(memory_bytes: int, cpu_s: int, file_bytes: int) -> None:
    """Hold this process, and each that it starts, to this memory, CPU time, and length of a file it writes.

    Memory is what the process may write to; files that are mapped to be read do not count.
    """
    _limit(resource.RLIMIT_DATA, memory_bytes, memory_bytes)
    _limit(resource.RLIMIT_CPU, cpu_s, cpu_s + _GRACE_S)
    _limit(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
    _limit(resource.RLIMIT_CORE, 0, 0)


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set the limit, never above what the system allows."""
    _, highest = resource.getrlimit(kind)
    allowed = [value if highest == resource.RLIM_INFINITY else min(value, highest) for value in (soft, hard)]
    resource.setrlimit(kind, (allowed[0], allowed[1]))
