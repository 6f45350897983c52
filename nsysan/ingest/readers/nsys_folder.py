"""A folder that the user made with ``nsys export -t parquetdir`` or ``-t arrowdir``: one file for each table."""

from __future__ import annotations

from nsysan.ingest.arrow.folder import TableFormat, table_format
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.ingest.nsys.trace import read_export
from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.model.contents import Contents
from nsysan.model.errors import InputError
from nsysan.model.trace import Trace

_ID = "nsys_folder"


def _recognise(candidate: Candidate) -> bool:
    return candidate.is_folder and table_format(candidate.path, TABLE_NAMES) is not None


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    # numpy and pyarrow are imported for those who have such a folder
    from nsysan.ingest.arrow.tables import ArrowTables

    found = _format_of(candidate)
    options.progress.begin(f"reading {candidate.shown_name}")
    return read_export(ArrowTables(candidate.path, found, TABLE_NAMES), candidate, _ID, options)


def _survey(candidate: Candidate, options: ReadOptions) -> Contents:
    from nsysan.ingest.arrow.counting import row_counts
    from nsysan.ingest.arrow.tables import ArrowTables
    from nsysan.ingest.nsys.folder_survey import SURVEYED_TABLES, survey_folder

    trace, found = _read(candidate, options), _format_of(candidate)
    source = ArrowTables(candidate.path, found, SURVEYED_TABLES)
    return survey_folder(trace, source, row_counts(candidate.path, found))


def _format_of(candidate: Candidate) -> TableFormat:
    found = table_format(candidate.path, TABLE_NAMES)
    if found is None:
        raise InputError(f"{candidate.shown_name} lost its tables while it was read.", "Check the folder.")
    return found


READER = Reader(_ID, _recognise, _read, survey=_survey, needs_modules=("pyarrow",))
