"""What an export holds, by counting: no column is read into memory, whatever the size of the tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from nsysan import __version__
from nsysan.ingest.counts import Counts
from nsysan.ingest.nsys.identity import read_identity
from nsysan.ingest.nsys.machine import read_cuda_devices, read_gpus
from nsysan.ingest.nsys.nvtx_survey import count_ranges, domain_names, frequent_names, nccl_range_count
from nsysan.ingest.nsys.open_export import OpenExport, open_export
from nsysan.ingest.nsys.open_questions import open_questions
from nsysan.ingest.nsys.session import read_session
from nsysan.ingest.nsys.tables import SYSTEM_PROPERTIES
from nsysan.ingest.nsys.work_survey import count_gpu_work
from nsysan.ingest.reader import Candidate
from nsysan.ingest.shown import shown, shown_devices, shown_gpus, shown_identity
from nsysan.ingest.sqlite.tables import StoredTable, integer, known_text, row_counts, rows, stored_among
from nsysan.model.contents import (
    Communicators,
    Contents,
    TableRows,
)
from nsysan.model.text import display_text

_PROCESSES = "PROCESSES"
_MPI_RANKS = "MPI_RANKS"
_MPI_COMMUNICATORS = "MPI_COMMUNICATORS"
_NCCL_DOMAIN = "NCCL"


def survey_export(connection: sqlite3.Connection, candidate: Candidate, reader: str) -> Contents:
    """The contents of the export behind ``connection``, with the names of people and machines that it holds.

    Raises InputError where the database is no export, sqlite3.Error where it is damaged.
    """
    export = open_export(connection, candidate.shown_name)
    stored = stored_among(connection, (_PROCESSES, _MPI_RANKS, _MPI_COMMUNICATORS))
    session = read_session(export)
    counts = Counts(count_gpu_work(export, session.time_shift_ns), count_ranges(export), domain_names(export))
    total = counts.total_work()
    hosts = _hosts(export)
    return Contents(
        nsysan_version=__version__,
        name=display_text(candidate.path.name),
        reader=reader,
        size_bytes=candidate.size_bytes,
        nsys_version=shown(session.nsys_version),
        export_schema=shown(session.export_schema),
        capture_ns=session.capture_ns,
        session_start_utc_ns=None if session.start_utc_ns is None else str(session.start_utc_ns),
        host_count=len(hosts) or None,
        hosts=hosts,
        identity=shown_identity(read_identity(export, candidate.path)),
        process_count=_process_count(connection, stored),
        processes=counts.processes(_process_names(connection, stored)),
        gpus=shown_gpus(read_gpus(export)),
        cuda_devices=shown_devices(read_cuda_devices(export)),
        devices=counts.devices(),
        work_start_ns=total.start_ns,
        work_end_ns=total.end_ns,
        nvtx=counts.nvtx(frequent_names(export)),
        communicators=_communicators(export, stored, counts),
        tables=tuple(TableRows(display_text(name), count) for name, count in row_counts(connection).items()),
        open_questions=open_questions(connection),
    )


def _hosts(export: OpenExport) -> tuple[str, ...]:
    named = export.rows(SYSTEM_PROPERTIES, "name", "value")
    hosts = {known_text(value) for name, value in named if name == "Hostname"}
    return tuple(sorted(display_text(host) for host in hosts if host is not None))


def _process_count(connection: sqlite3.Connection, stored: Mapping[str, StoredTable]) -> int | None:
    return len(list(rows(connection, stored[_PROCESSES], ("pid",)))) if _PROCESSES in stored else None


def _process_names(connection: sqlite3.Connection, stored: Mapping[str, StoredTable]) -> dict[int, str]:
    found = rows(connection, stored[_PROCESSES], ("globalPid", "name")) if _PROCESSES in stored else ()
    named = ((integer(global_pid), known_text(name)) for global_pid, name in found)
    return {global_pid: display_text(name) for global_pid, name in named if global_pid is not None and name is not None}


def _communicators(export: OpenExport, stored: Mapping[str, StoredTable], counts: Counts) -> Communicators | None:
    found = Communicators(
        mpi_ranks=_integers(export.connection, stored.get(_MPI_RANKS), "rank"),
        mpi_sizes=_integers(export.connection, stored.get(_MPI_COMMUNICATORS), "size"),
        nccl_range_count=max(counts.ranges_by_domain().get(_NCCL_DOMAIN, 0), nccl_range_count(export)),
    )
    return found if found != Communicators((), (), 0) else None


def _integers(connection: sqlite3.Connection, table: StoredTable | None, column: str) -> tuple[int, ...]:
    values = [] if table is None else rows(connection, table, (column,))
    return tuple(sorted({number for (value,) in values if (number := integer(value)) is not None}))
