"""Which ranks an export is of, as MPI and the environment kept by the capture tell. Nothing else of that is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import CAPTURE_SETTINGS, MPI_COMMUNICATORS, MPI_RANKS
from nsysan.ingest.source import integer, text
from nsysan.model.trace import PROCESS_BITS

_LAUNCHERS = (
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
)
"""The variables for rank and number of ranks. A scheduler's task may start torchrun, which is why that is first."""
_VARIABLES = frozenset(name for names in _LAUNCHERS for name in names)
_SETTING = "PROCESS_0:ENVIRONMENT_VARIABLE"
_NUMBER = re.compile(r'(?P<name>[A-Z_]+)="?(?P<value>\d{1,7})"?')
_MOST_RANKS = 1 << 23


class ToldRanks(msgspec.Struct, frozen=True):
    """``rank`` is that of the process nsys launched, by its environment; ``mpi_ranks`` those of processes, by pid."""

    rank: int | None
    world_size: int | None
    mpi_ranks: Mapping[int, int]


def read_ranks(export: OpenExport) -> ToldRanks:
    """The ranks; None and nothing where the export does not tell. A rank the job cannot have is not one."""
    variables = dict(_numbers(export))
    told = ((variables.get(rank), variables.get(size)) for rank, size in _LAUNCHERS if rank in variables)
    rank, size = next(told, (None, None))
    size = size or _mpi_size(export)
    return ToldRanks(None if rank is not None and size and rank >= size else rank, size, dict(_mpi_ranks(export)))


def _numbers(export: OpenExport) -> Iterator[tuple[str, int]]:
    """Those of the variables that are kept and wanted."""
    for name, value in export.rows(CAPTURE_SETTINGS, "name", "value"):
        found = _NUMBER.fullmatch(text(value) or "") if text(name) == _SETTING else None
        if found is not None and found["name"] in _VARIABLES:
            yield found["name"], int(found["value"])


def _mpi_ranks(export: OpenExport) -> Iterator[tuple[int, int]]:
    for thread, rank in export.rows(MPI_RANKS, "globalTid", "rank"):
        if isinstance(thread, int) and isinstance(rank, int) and 0 <= rank < _MOST_RANKS:
            yield thread & PROCESS_BITS, rank


def _mpi_size(export: OpenExport) -> int | None:
    """The size of the largest communicator that MPI made, which is that of the world."""
    sizes = (integer(size) for (size,) in export.rows(MPI_COMMUNICATORS, "size"))
    return max((size for size in sizes if size is not None and 0 < size <= _MOST_RANKS), default=None)
