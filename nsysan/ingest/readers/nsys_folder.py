"""A folder that the user made with ``nsys export -t parquetdir`` or ``-t arrowdir``: one file for each table."""

from __future__ import annotations

from nsysan.ingest.arrow.folder import table_format
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.ingest.nsys.trace import read_export
from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.model.errors import InputError
from nsysan.model.trace import Trace

_ID = "nsys_folder"


def _recognise(candidate: Candidate) -> bool:
    return candidate.is_folder and table_format(candidate.path, TABLE_NAMES) is not None


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    # numpy and pyarrow are imported for those who have such a folder
    from nsysan.ingest.arrow.tables import ArrowTables

    found = table_format(candidate.path, TABLE_NAMES)
    if found is None:
        raise InputError(f"{candidate.shown_name} lost its tables while it was read.", "Check the folder.")
    options.tell(f"reading {candidate.shown_name}")
    return read_export(ArrowTables(candidate.path, found, TABLE_NAMES), candidate, _ID, options)


READER = Reader(_ID, _recognise, _read, needs_modules=("pyarrow",))
