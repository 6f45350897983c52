"""A report becomes an SQLite export, by the user's own nsys, in a folder of our own."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsysan.ingest.fingerprint import sha256_of
from nsysan.ingest.nsys.export_failures import failure_of, stall_of
from nsysan.ingest.nsys.installation import NsysInstallation
from nsysan.ingest.nsys.kept_export import KeptExport, Origin
from nsysan.ingest.nsys.supervision import StalledError, export_patience_s, run
from nsysan.ingest.nsys.tables import EXPORT_SETTINGS, STRINGS, TABLE_NAMES
from nsysan.ingest.private_folder import private_folder
from nsysan.ingest.reader import Candidate, ReadOptions
from nsysan.ingest.sqlite.database import check_structure, open_database
from nsysan.ingest.sqlite.tables import tables_among
from nsysan.ingest.stillness import unchanged
from nsysan.model.errors import InputError
from nsysan.model.units import format_bytes

_INCLUSIONS = ("--include-blobs", "--include-json")


@contextmanager
def exported(
    candidate: Candidate, nsys: NsysInstallation, options: ReadOptions, *, every_table: bool = False
) -> Iterator[sqlite3.Connection]:
    """A connection to the export of the report, which is removed at the end.

    An export counts as made where nsys exits with 0 and says nothing, and where the file has content, nsys' two
    tables that every export has, and no structural fault. Raises InputError or MissingToolError otherwise.
    """
    with private_folder() as folder:
        export = _export(candidate, nsys, options, folder, every_table=every_table)
        with _checked(export, candidate) as connection:
            yield connection


@contextmanager
def exported_and_kept(
    candidate: Candidate, nsys: NsysInstallation, options: ReadOptions, kept: KeptExport
) -> Iterator[sqlite3.Connection]:
    """A connection to the export of the report, made now and kept. Raises UsageError where it cannot be kept."""
    with private_folder() as folder:
        with unchanged(candidate.path):
            origin = Origin(sha256_of(candidate.path), nsys.shown_version)
            export = _export(candidate, nsys, options, folder)
        with _checked(export, candidate) as connection:
            kept.store(export, origin)
            yield connection


@contextmanager
def kept_from_before(candidate: Candidate, kept: KeptExport, options: ReadOptions) -> Iterator[sqlite3.Connection]:
    """A connection to the export that was kept before."""
    options.progress.begin(f"taking the export of {candidate.shown_name} from {kept.shown_name}")
    with open_database(kept.path, kept.shown_name) as connection:
        yield connection


def export_command(nsys: NsysInstallation, report: Path, export: Path, *, every_table: bool = False) -> list[str]:
    """The command line: only the tables that nsysan reads unless all are wanted, with blobs and JSON where it can."""
    options = ["-q", "true", "-t", "sqlite", "-o", str(export)]
    if nsys.can("--tables") and not every_table:
        options.append(f"--tables={','.join(TABLE_NAMES)}")
    options += [f"{inclusion}=true" for inclusion in _INCLUSIONS if nsys.can(inclusion)]
    # an absolute path is never taken for an option
    return [nsys.executable, "export", *options, str(report.absolute())]


def _export(
    candidate: Candidate, nsys: NsysInstallation, options: ReadOptions, folder: Path, *, every_table: bool = False
) -> Path:
    """The export, made inside ``folder``."""
    shown, export = candidate.shown_name, folder / "export.sqlite"
    options.progress.begin(f"exporting {shown} ({format_bytes(candidate.size_bytes)}) with nsys {nsys.shown_version}")
    begin_s = time.monotonic()
    _run(export_command(nsys, candidate.path, export, every_table=every_table), folder, shown)
    if not export.is_file() or not export.stat().st_size:
        raise _nothing_made(shown)
    took_s = time.monotonic() - begin_s
    options.progress.begin(f"exported {shown}: {format_bytes(export.stat().st_size)} of SQLite in {took_s:.1f} s")
    return export


def _run(command: list[str], folder: Path, shown_name: str) -> None:
    try:
        finished = run(command, export_patience_s(), folder=folder, variables={"TMPDIR": str(folder)})
    except StalledError as stalled:
        raise stall_of(shown_name, stalled.stalled_s) from None
    failure = failure_of(shown_name, finished.exit_code, finished.stderr.decode("utf-8", "replace"))
    if failure is not None:
        raise failure


@contextmanager
def _checked(export: Path, candidate: Candidate) -> Iterator[sqlite3.Connection]:
    with open_database(export, f"The export of {candidate.shown_name}") as connection:
        check_structure(connection)
        present = tables_among(connection, (*EXPORT_SETTINGS, STRINGS))
        if STRINGS not in present or not set(EXPORT_SETTINGS) & present.keys():
            raise _nothing_made(candidate.shown_name)
        yield connection


def _nothing_made(shown_name: str) -> InputError:
    return InputError(f"nsys made no usable export of {shown_name}.", "Try it by hand: nsys export -t sqlite REPORT")
