"""A folder that the user made with ``nsys export -t parquetdir`` or ``-t arrowdir``: one file for each table."""

from __future__ import annotations

from dataclasses import replace

from nsysan.ingest.arrow.folder import TableFormat, table_format
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.open_questions import open_questions
from nsysan.ingest.nsys.processes import PROCESS_TABLES, communicators, process_count, process_names
from nsysan.ingest.nsys.questions import EVIDENCE_TABLES, Evidence
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.ingest.nsys.trace import read_export
from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.model.contents import Contents, TableRows
from nsysan.model.errors import InputError
from nsysan.model.text import display_text
from nsysan.model.trace import Trace

_ID = "nsys_folder"


def _recognise(candidate: Candidate) -> bool:
    return candidate.is_folder and table_format(candidate.path, TABLE_NAMES) is not None


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    # numpy and pyarrow are imported for those who have such a folder
    from nsysan.ingest.arrow.tables import ArrowTables

    found = _format_of(candidate)
    options.tell(f"reading {candidate.shown_name}")
    return read_export(ArrowTables(candidate.path, found, TABLE_NAMES), candidate, _ID, options)


def _survey(candidate: Candidate, options: ReadOptions) -> Contents:
    from nsysan.ingest.arrow.counting import has_rows, row_counts
    from nsysan.ingest.arrow.tables import ArrowTables
    from nsysan.ingest.trace_survey import contents_of

    found = _format_of(candidate)
    counts = row_counts(candidate.path, found)
    source = ArrowTables(candidate.path, found, (*EVIDENCE_TABLES, *PROCESS_TABLES))
    export = OpenExport(source)
    contents = contents_of(_read(candidate, options), process_names(export))
    nccl_range_count = 0 if contents.communicators is None else contents.communicators.nccl_range_count

    def holds(evidence: Evidence) -> bool:
        table = source.tables.get(evidence.table)
        if table is None or evidence.column is None:
            return counts.get(evidence.table, 0) > 0
        return evidence.column in table.columns and has_rows(source, table, evidence.column, evidence.like)

    return replace(
        contents,
        process_count=process_count(export),
        communicators=communicators(export, nccl_range_count),
        tables=tuple(TableRows(display_text(name), count) for name, count in counts.items()),
        open_questions=open_questions(holds),
    )


def _format_of(candidate: Candidate) -> TableFormat:
    found = table_format(candidate.path, TABLE_NAMES)
    if found is None:
        raise InputError(f"{candidate.shown_name} lost its tables while it was read.", "Check the folder.")
    return found


READER = Reader(_ID, _recognise, _read, survey=_survey, needs_modules=("pyarrow",))
