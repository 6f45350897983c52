"""The export of a report, kept for the next time where the user asks for it.

Whether it is still that of the report is decided by content, never by time: in a table of its own it says the hash of
the report it was made from, the tables that were asked for, and the nsys that made it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.ingest.sqlite.database import check_structure, open_database
from nsysan.ingest.sqlite.header import MAGIC
from nsysan.model.errors import InputError, UsageError
from nsysan.model.text import visible_text
from nsysan.output.failure import writing
from nsysan.output.published import publish
from nsysan.output.staging import part_file

KEPT_EXPORT_SUFFIX = ".nsysan.sqlite"
_TABLE = "NSYSAN_EXPORT"
_ANOTHER_FOLDER = "Start nsysan in another folder, or leave out --keep-export."


class Origin(msgspec.Struct, frozen=True):
    """What a kept export was made from and with."""

    report_sha256: str
    nsys_version: str
    tables: str = ",".join(TABLE_NAMES)


class KeptExport:
    """The place in ``folder`` for the export of ``report``: the report's name with the suffix ``.nsysan.sqlite``."""

    def __init__(self, folder: Path, report: Path) -> None:
        self.path = folder / f"{report.stem}{KEPT_EXPORT_SUFFIX}"

    @property
    def shown_name(self) -> str:
        """The path, safe to show."""
        return visible_text(str(self.path))

    def origin(self) -> Origin | None:
        """Where the kept export is from, or None where nothing was kept. Raises UsageError for any other file."""
        if not os.path.lexists(self.path):
            return None
        try:
            rows = self._rows()
        except (InputError, OSError):
            rows = {}
        if rows.keys() != {"report_sha256", "nsys_version", "tables"}:
            raise UsageError(f"{self.shown_name} is there and was not written by nsysan.", _ANOTHER_FOLDER)
        return Origin(**rows)

    def check_place(self) -> None:
        """Refuse before the export what ``store`` would refuse after it. Raises as that does."""
        with writing(self.path, _ANOTHER_FOLDER), part_file(self.path):
            pass

    def is_sound(self) -> bool:
        """Whether the file has no structural fault."""
        try:
            with open_database(self.path, self.shown_name) as connection:
                check_structure(connection)
        except InputError:
            return False
        return True

    def store(self, export: Path, origin: Origin) -> None:
        """Put the finished export there, whole or not at all; only this user can open it.

        Raises UsageError where that is not possible, MissingToolError where there is no room.
        """
        with writing(self.path, _ANOTHER_FOLDER), part_file(self.path) as part:
            shutil.copyfile(export, part)
            _sign(part, origin)
            self.origin()  # refuses a file of someone else that has appeared since
            publish(part, self.path)

    def _rows(self) -> dict[str, str]:
        if not self.path.is_file():
            return {}
        with self.path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return {}
        with open_database(self.path, self.shown_name) as connection:
            found = connection.execute(f"SELECT name, value FROM {_TABLE}").fetchall()  # noqa: S608 -- a constant
        return {str(name): str(value) for name, value in found}


def _sign(export: Path, origin: Origin) -> None:
    rows = (
        ("report_sha256", origin.report_sha256),
        ("nsys_version", origin.nsys_version),
        ("tables", origin.tables),
    )
    with closing(sqlite3.connect(export)) as connection, connection:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute(f"CREATE TABLE {_TABLE} (name TEXT NOT NULL, value TEXT NOT NULL)")
        connection.executemany(f"INSERT INTO {_TABLE} VALUES (?, ?)", rows)  # noqa: S608 -- a constant
