"""An SQLite export that the user made with ``nsys export -t sqlite``."""

from __future__ import annotations

from nsysan.ingest.nsys.survey import survey_export
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.ingest.nsys.trace import read_export
from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.ingest.sqlite.database import open_database
from nsysan.ingest.sqlite.header import MAGIC
from nsysan.ingest.sqlite.tables import SqliteTables
from nsysan.model.contents import Contents
from nsysan.model.trace import Trace

_ID = "nsys_sqlite"


def _recognise(candidate: Candidate) -> bool:
    return candidate.head.startswith(MAGIC)


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    options.progress.begin(f"reading {candidate.shown_name}")
    with open_database(candidate.path, candidate.shown_name) as connection:
        return read_export(SqliteTables(connection, TABLE_NAMES, options.progress), candidate, _ID, options)


def _survey(candidate: Candidate, options: ReadOptions) -> Contents:
    options.progress.begin(f"counting {candidate.shown_name}")
    with open_database(candidate.path, candidate.shown_name) as connection:
        return survey_export(connection, candidate, _ID, is_full=options.counts_all)


READER = Reader(_ID, _recognise, _read, survey=_survey)
