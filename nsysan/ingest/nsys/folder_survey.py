"""What a folder of tables holds: its records are read, for columns of a folder cannot be counted without."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from nsysan.ingest.arrow.counting import has_rows
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.open_questions import open_questions
from nsysan.ingest.nsys.processes import PROCESS_TABLES, communicators, process_count, process_names
from nsysan.ingest.nsys.questions import EVIDENCE_TABLES, Evidence
from nsysan.ingest.nsys.tables import WORK
from nsysan.ingest.source import Source
from nsysan.ingest.trace_survey import contents_of, holds_timed_work
from nsysan.model.contents import Contents, TableRows
from nsysan.model.text import display_text
from nsysan.model.trace import Trace

SURVEYED_TABLES = (*EVIDENCE_TABLES, *PROCESS_TABLES)
"""The tables that ``source`` must offer."""


def survey_folder(trace: Trace, source: Source, row_counts: Mapping[str, int]) -> Contents:
    """The contents of the folder with this trace; ``row_counts`` are those of every table in it."""
    others = OpenExport(source)

    def holds(evidence: Evidence) -> bool:
        if evidence.is_timed:
            return any(holds_timed_work(trace, kind) for kind, table in WORK.items() if evidence.table in table.names)
        table = source.tables.get(evidence.table)
        if table is None or evidence.column is None:
            return row_counts.get(evidence.table, 0) > 0
        return evidence.column in table.columns and has_rows(source, table, evidence.column, evidence.like)

    contents = contents_of(trace, open_questions(holds), process_names(others))
    nccl_range_count = 0 if contents.communicators is None else contents.communicators.nccl_range_count
    return replace(
        contents,
        process_count=process_count(others),
        communicators=communicators(others, nccl_range_count),
        tables=tuple(TableRows(display_text(name), count) for name, count in row_counts.items()),
    )
