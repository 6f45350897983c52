"""The processes of an export, and what MPI's tables tell of their ranks."""

from __future__ import annotations

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import MPI_COMMUNICATORS, MPI_RANKS
from nsysan.ingest.source import integer, known_text
from nsysan.model.contents import Communicators
from nsysan.model.text import display_text

_PROCESSES = "PROCESSES"

PROCESS_TABLES = (_PROCESSES, MPI_RANKS, MPI_COMMUNICATORS)
"""The tables that these functions look into."""


def process_count(export: OpenExport) -> int | None:
    """How many processes nsys saw, None where it does not say."""
    return sum(1 for _ in export.rows(_PROCESSES, "pid")) if _PROCESSES in export.tables else None


def process_names(export: OpenExport) -> dict[int, str]:
    """The names by global pid, safe to show."""
    named = (
        (integer(global_pid), known_text(name)) for global_pid, name in export.rows(_PROCESSES, "globalPid", "name")
    )
    return {global_pid: display_text(name) for global_pid, name in named if global_pid is not None and name is not None}


def runs_mps(export: OpenExport) -> bool | None:
    """Whether a server of CUDA's Multi-Process Service was seen, None where the export tells no processes."""
    names = [known_text(name) for (name,) in export.rows(_PROCESSES, "name")]
    return any("nvidia-cuda-mps" in name for name in names if name is not None) if names else None


def communicators(export: OpenExport, nccl_range_count: int) -> Communicators | None:
    """What MPI's tables tell, with the ranges of NCCL; None where there is neither."""
    ranks, sizes = _integers(export, MPI_RANKS, "rank"), _integers(export, MPI_COMMUNICATORS, "size")
    return Communicators(ranks, sizes, nccl_range_count) if ranks or sizes or nccl_range_count else None


def _integers(export: OpenExport, table: str, column: str) -> tuple[int, ...]:
    numbers = (integer(value) for (value,) in export.rows(table, column))
    return tuple(sorted({number for number in numbers if number is not None}))
