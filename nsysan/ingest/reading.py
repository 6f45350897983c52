"""The way in: a path becomes a Trace, or an error that says what the path holds instead."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest import readers
from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.ingest.recognition import examine, readable, refusal
from nsysan.ingest.stillness import unchanged
from nsysan.model.contents import Contents
from nsysan.model.registry import discover
from nsysan.model.trace import Trace

__all__ = ["ReadOptions", "read_trace", "survey_report"]


def read_trace(path: Path, options: ReadOptions) -> Trace:
    """The trace in the file at ``path``, whose content decides its format; only a kept export is written.

    Raises InputError where it cannot be read or changes meanwhile, MissingToolError where that needs what is not here.
    """
    candidate = examine(path)
    reader = _reader_of(candidate)
    with unchanged(path), readable(path):
        return reader.read(candidate, options)


def survey_report(path: Path, options: ReadOptions) -> Contents:
    """What the report at ``path`` holds, with the names of people and machines that are in it.

    Raises as ``read_trace`` does.
    """
    candidate = examine(path)
    reader = _reader_of(candidate)
    with unchanged(path), readable(path):
        return reader.survey(candidate, options)


def _reader_of(candidate: Candidate) -> Reader:
    for reader in discover(readers, "READER", Reader):
        if reader.recognise(candidate):
            return reader
    raise refusal(candidate)
