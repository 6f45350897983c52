"""Which questions an export cannot answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from nsysan.ingest.nsys.questions import QUESTIONS, Evidence
from nsysan.ingest.source import StoredTable
from nsysan.ingest.sqlite.counting import has_rows, stored_among
from nsysan.model.contents import OpenQuestion


def open_questions(connection: sqlite3.Connection) -> tuple[OpenQuestion, ...]:
    """The questions that no row of the export answers, and why; a question that nothing raises is not among them."""
    evidence = [each for question in QUESTIONS for each in (*question.answered_by, *question.raised_by)]
    stored = stored_among(connection, {each.table for each in evidence})
    held = {each for each in set(evidence) if _holds(connection, stored, each)}
    return tuple(
        OpenQuestion(question.id, question.question, f"it holds no {question.lacking}", question.recapture)
        for question in QUESTIONS
        if not _any(held, question.answered_by) and (not question.raised_by or _any(held, question.raised_by))
    )


def _any(held: set[Evidence], wanted: Iterable[Evidence]) -> bool:
    return not held.isdisjoint(wanted)


def _holds(connection: sqlite3.Connection, stored: Mapping[str, StoredTable], evidence: Evidence) -> bool:
    table = stored.get(evidence.table)
    if table is None or (evidence.column is not None and evidence.column not in table.columns):
        return False
    return has_rows(connection, table, evidence.column, evidence.like)
