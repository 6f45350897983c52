"""A ``.nsys-rep`` or ``.qdrep``, through ``nsys export`` of the user's own nsys."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from nsysan.ingest.fingerprint import sha256_of
from nsysan.ingest.nsys.conversion import exported, exported_and_kept, kept_from_before
from nsysan.ingest.nsys.installation import NsysInstallation, find_nsys, shown_version
from nsysan.ingest.nsys.kept_export import KeptExport, Origin
from nsysan.ingest.nsys.report import MAGIC, collector_version
from nsysan.ingest.nsys.survey import survey_export
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.ingest.nsys.trace import read_export
from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.ingest.sqlite.tables import SqliteTables
from nsysan.model.contents import Contents
from nsysan.model.errors import InputError, MissingToolError
from nsysan.model.text import visible_text
from nsysan.model.trace import Trace

_ID = "nsys_report"


def _recognise(candidate: Candidate) -> bool:
    return candidate.head.startswith(MAGIC)


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    with _export_of(candidate, options) as connection:
        options.progress.begin(f"reading {candidate.shown_name}")
        return read_export(SqliteTables(connection, TABLE_NAMES, options.progress), candidate, _ID, options)


def _survey(candidate: Candidate, options: ReadOptions) -> Contents:
    # a kept export holds only the tables that nsysan reads; here every table is asked for, and to count costs little
    with exported(candidate, _able(_find_nsys(options), candidate), options, every_table=True) as connection:
        return survey_export(connection, candidate, _ID, is_full=True)


def _export_of(candidate: Candidate, options: ReadOptions) -> AbstractContextManager[sqlite3.Connection]:
    nsys = _find_nsys(options)
    if options.keep_exports_in is None:
        return exported(candidate, _able(nsys, candidate), options)
    kept = KeptExport(options.keep_exports_in, candidate.path)
    if _is_current(kept.origin(), candidate.path, nsys) and kept.is_sound():
        return kept_from_before(candidate, kept, options)
    kept.check_place()
    return exported_and_kept(candidate, _able(nsys, candidate), options, kept)


def _find_nsys(options: ReadOptions) -> NsysInstallation | None:
    options.progress.begin("waiting for nsys to tell its version and its options")
    return find_nsys(options.nsys)


def _is_current(origin: Origin | None, report: Path, nsys: NsysInstallation | None) -> bool:
    """Whether the export is of this very report, with every table; and of this nsys, if there is one."""
    if origin is None:
        return False
    version = origin.nsys_version if nsys is None else nsys.shown_version
    return origin == Origin(sha256_of(report), version)


def _able(nsys: NsysInstallation | None, candidate: Candidate) -> NsysInstallation:
    """The nsys, if there is one that reads the report."""
    if nsys is None:
        raise _no_nsys(candidate)
    _refuse_newer(candidate, nsys)
    return nsys


def _no_nsys(candidate: Candidate) -> MissingToolError:
    report, export = candidate.path.name, candidate.path.with_suffix(".sqlite").name
    command = f"nsys export -t sqlite -o {shlex.quote(f'./{export}')} {shlex.quote(f'./{report}')}"
    return MissingToolError(
        f"{candidate.shown_name} must be exported to be read, and there is no nsys on this machine.",
        f"Name one with --nsys, or run this where Nsight Systems is, and give the file it writes: "
        f"{visible_text(command)}",
    )


def _refuse_newer(candidate: Candidate, nsys: NsysInstallation) -> None:
    recorded_by = collector_version(candidate.head)
    if recorded_by is not None and recorded_by > nsys.version:
        raise InputError(
            f"{candidate.shown_name} was recorded by nsys {shown_version(recorded_by)}, and the nsys at hand, "
            f"{nsys.shown_version}, is older and cannot read it.",
            "Update Nsight Systems, or name a newer nsys with --nsys.",
        )


READER = Reader(_ID, _recognise, _read, survey=_survey)
