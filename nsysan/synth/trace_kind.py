"""What a capture records, by the words of ``--trace``."""

from __future__ import annotations

from enum import Enum

from nsysan.model.errors import UsageError
from nsysan.model.text import visible_text


class TraceKind(str, Enum):
    """A kind of record; each is switched on by an option of ``nsys profile``."""

    CUDA = "cuda"
    NVTX = "nvtx"
    OSRT = "osrt"
    SCHED = "sched"
    MEMORY = "memory"
    SYNC = "sync"
    METRICS = "metrics"
    MPI = "mpi"


USUAL_KINDS = frozenset({TraceKind.CUDA, TraceKind.NVTX})
"""What a capture records unless something else is asked for."""


def parse_kinds(text: str) -> frozenset[TraceKind]:
    """The kinds named in ``text``, apart by commas. Raises UsageError for a word that is none."""
    words = [word.strip() for word in text.split(",")]
    known = [kind.value for kind in TraceKind]
    for word in words:
        if word not in known:
            raise UsageError(f"There is no kind of record {visible_text(word)!r}.", f"Known are: {', '.join(known)}.")
    return frozenset(map(TraceKind, words))
