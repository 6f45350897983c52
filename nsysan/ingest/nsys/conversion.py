"""A report becomes an SQLite export, by the user's own nsys, in a folder of our own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsysan.ingest.nsys.export_failures import failure_of
from nsysan.ingest.nsys.installation import NsysInstallation
from nsysan.ingest.nsys.tables import EXPORT_SETTINGS, STRINGS, TABLE_NAMES
from nsysan.ingest.private_folder import private_folder
from nsysan.ingest.sqlite.database import check_structure, open_database
from nsysan.ingest.sqlite.tables import tables_among
from nsysan.model.errors import InputError

_INCLUSIONS = ("--include-blobs", "--include-json")


@contextmanager
def exported(
    report: Path, shown_name: str, nsys: NsysInstallation, *, every_table: bool = False
) -> Iterator[sqlite3.Connection]:
    """A connection to the export of ``report``, which is removed at the end.

    An export counts as made where nsys exits with 0 and says nothing, and where the file has content, nsys' two
    tables that every export has, and no structural fault. Raises InputError or MissingToolError otherwise.
    """
    with private_folder() as folder:
        export = folder / "export.sqlite"
        _run(export_command(nsys, report, export, every_table=every_table), folder, shown_name)
        if not export.is_file() or not export.stat().st_size:
            raise _nothing_made(shown_name)
        with open_database(export, f"The export of {shown_name}") as connection:
            check_structure(connection)
            _check_tables(connection, shown_name)
            yield connection


def export_command(nsys: NsysInstallation, report: Path, export: Path, *, every_table: bool = False) -> list[str]:
    """The command line: only the tables that nsysan reads unless all are wanted, with blobs and JSON where it can."""
    options = ["-q", "true", "-t", "sqlite", "-o", str(export)]
    if nsys.can("--tables") and not every_table:
        options.append(f"--tables={','.join(TABLE_NAMES)}")
    options += [f"{inclusion}=true" for inclusion in _INCLUSIONS if nsys.can(inclusion)]
    # an absolute path is never taken for an option
    return [nsys.executable, "export", *options, str(report.absolute())]


def _run(command: list[str], folder: Path, shown_name: str) -> None:
    finished = subprocess.run(  # noqa: S603 -- the user's own nsys
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    failure = failure_of(shown_name, finished.returncode, finished.stderr.decode("utf-8", "replace"))
    if failure is not None:
        raise failure


def _check_tables(connection: sqlite3.Connection, shown_name: str) -> None:
    present = tables_among(connection, (*EXPORT_SETTINGS, STRINGS))
    if STRINGS not in present or not set(EXPORT_SETTINGS) & present.keys():
        raise _nothing_made(shown_name)


def _nothing_made(shown_name: str) -> InputError:
    return InputError(f"nsys made no usable export of {shown_name}.", "Try it by hand: nsys export -t sqlite REPORT")
