"""What training logs, monitors, the scheduler and profiles say of the run, where they were given as evidence."""

from __future__ import annotations

from nsysan.model.run import Run
from nsysan.report.elements import Table
from nsysan.report.evidence_sentences import (
    evidence_sentences,
    jobs_of,
    logs_of,
    profiles_of,
    recordings_of,
)
from nsysan.report.evidence_tables import job_table, profile_table, samples_table, training_table
from nsysan.report.section import Layout, Section, View

_CONTEXT = "These figures are of the files named, not of the traces; neither is corrected by the other."


class EvidenceView(View, frozen=True):
    """What the files say in sentences, and tables."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> EvidenceView | None:
    sentences = tuple(evidence_sentences(run))
    if not sentences:
        return None
    tables = (
        training_table(logs_of(run)),
        samples_table(recordings_of(run)),
        job_table(jobs_of(run)),
        profile_table(profiles_of(run)),
    )
    utilization = " Time with any kernel is no evidence of MFU." if recordings_of(run) else ""
    return EvidenceView(
        heading=sentences[0].rstrip("."),
        context=f"{_CONTEXT}{utilization}",
        sentences=sentences[1:],
        tables=tuple(table for table in tables if table is not None),
    )


SECTION = Section(
    "evidence", 59, "Evidence", "What logs, monitors, the scheduler and profiles say", _build, Layout.WIDE
)
