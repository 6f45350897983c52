"""What an export holds, by counting: no column is read into memory, whatever the size of the tables.

Counting a large export takes a minute; unless that is asked for, it tells what is found without a scan.
"""

from __future__ import annotations

import sqlite3
from functools import cache

from msgspec.structs import replace

from nsysan import __version__
from nsysan.ingest.counts import NCCL_DOMAIN, Counts
from nsysan.ingest.nsys.identity import read_identity
from nsysan.ingest.nsys.machine import read_cuda_devices, read_gpus
from nsysan.ingest.nsys.nvtx_survey import count_ranges, domain_names, frequent_names, nccl_range_count
from nsysan.ingest.nsys.open_export import OpenExport, open_export
from nsysan.ingest.nsys.open_questions import Holds, open_questions, undecided_questions
from nsysan.ingest.nsys.processes import PROCESS_TABLES, communicators, process_count, process_names
from nsysan.ingest.nsys.questions import EVIDENCE_TABLES, Evidence
from nsysan.ingest.nsys.session import Session, read_session
from nsysan.ingest.nsys.tables import SYSTEM_PROPERTIES, TABLE_NAMES
from nsysan.ingest.nsys.work_survey import count_gpu_work, early_start_ns, holds_timed_work, median_start_ns
from nsysan.ingest.reader import Candidate
from nsysan.ingest.shown import shown, shown_devices, shown_gpus, shown_identity
from nsysan.ingest.source import known_text
from nsysan.ingest.sqlite.counting import database_bytes, has_rows, row_counts, stored_among
from nsysan.ingest.sqlite.tables import SqliteTables
from nsysan.model.contents import Contents, TableRows
from nsysan.model.profilers import Profiler
from nsysan.model.text import display_text

SMALL_BYTES = 32_000_000
"""An export up to this size is counted in less than a second."""


def survey_export(connection: sqlite3.Connection, candidate: Candidate, reader: str, *, is_full: bool) -> Contents:
    """The contents of the export behind ``connection``, with the names of people and machines that it holds.

    What takes a scan is counted if the export is small or ``is_full`` asks for it.

    Raises InputError where the database is no export, sqlite3.Error where it is damaged.
    """
    export = open_export(SqliteTables(connection, TABLE_NAMES), candidate.shown_name)
    others = OpenExport(SqliteTables(connection, stored_among(connection, PROCESS_TABLES)))
    session = read_session(export)
    is_full = is_full or database_bytes(connection) <= SMALL_BYTES
    shift_ns = _time_shift_ns(connection, export, session, is_full=is_full)
    hosts = _hosts(export)
    holds = _evidence_in(connection, shift_ns, is_full=is_full)
    contents = Contents(
        nsysan_version=__version__,
        name=display_text(candidate.path.name),
        reader=reader,
        profiler=Profiler.NSYS,
        size_bytes=candidate.size_bytes,
        nsys_version=shown(session.nsys_version),
        export_schema=shown(session.export_schema),
        capture_ns=session.capture_ns,
        session_start_utc_ns=None if session.start_utc_ns is None else str(session.start_utc_ns),
        host_count=len(hosts) or None,
        hosts=hosts,
        identity=shown_identity(read_identity(export, candidate.path)),
        process_count=process_count(others),
        processes=None,
        gpus=shown_gpus(read_gpus(export)),
        cuda_devices=shown_devices(read_cuda_devices(export)),
        devices=None,
        work_start_ns=None,
        work_end_ns=None,
        nvtx=None,
        rank=None,
        world_size=None,
        communicators=communicators(others, 0),
        tables=tuple(
            TableRows(display_text(name), count) for name, count in row_counts(connection, is_full=is_full).items()
        ),
        open_questions=open_questions(holds),
        undecided_questions=undecided_questions(holds),
    )
    return _with_counts(contents, connection, export, others, shift_ns) if is_full else contents


def _with_counts(
    contents: Contents, connection: sqlite3.Connection, export: OpenExport, others: OpenExport, shift_ns: int
) -> Contents:
    counts = _counts(connection, export, shift_ns)
    total = counts.total_work()
    # exports lose the names of domains
    nccl_count = counts.ranges_by_domain()[NCCL_DOMAIN] or nccl_range_count(connection, export)
    return replace(
        contents,
        processes=counts.processes(process_names(others)),
        devices=counts.devices(),
        work_start_ns=total.start_ns,
        work_end_ns=total.end_ns,
        nvtx=counts.nvtx(frequent_names(connection, export)),
        communicators=communicators(others, nccl_count),
    )


def _evidence_in(connection: sqlite3.Connection, time_shift_ns: int, *, is_full: bool) -> Holds:
    tables = stored_among(connection, EVIDENCE_TABLES)

    @cache
    def holds(evidence: Evidence) -> bool | None:
        table = tables.get(evidence.table)
        if evidence.is_timed:
            return table is not None and holds_timed_work(connection, table, time_shift_ns)
        if table is None or (evidence.column is not None and evidence.column not in table.columns):
            return False
        return has_rows(connection, table, evidence.column, evidence.like, is_full=is_full)

    return holds


def _hosts(export: OpenExport) -> tuple[str, ...]:
    named = export.rows(SYSTEM_PROPERTIES, "name", "value")
    hosts = {known_text(value) for name, value in named if name == "Hostname"}
    return tuple(sorted(display_text(host) for host in hosts if host is not None))


def _time_shift_ns(connection: sqlite3.Connection, export: OpenExport, session: Session, *, is_full: bool) -> int:
    if session.stated_shift_ns is not None:
        return session.stated_shift_ns

    def mostly_start_after(time_ns: int) -> bool:
        start_ns = (median_start_ns if is_full else early_start_ns)(connection, export)
        return start_ns is not None and start_ns > time_ns

    return session.likely_shift_ns(mostly_start_after)


def _counts(connection: sqlite3.Connection, export: OpenExport, shift_ns: int) -> Counts:
    return Counts(
        work=count_gpu_work(connection, export, shift_ns),
        ranges=count_ranges(connection, export),
        domain_names=domain_names(connection, export),
    )
