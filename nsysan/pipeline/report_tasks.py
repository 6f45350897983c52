"""Reading one report is one task, done here or elsewhere: it hands back a trace's columns, or why there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import InputError, NsysanError
from nsysan.model.progress import UNWATCHED
from nsysan.model.run import Note
from nsysan.model.text import display_text
from nsysan.model.trace import Trace
from nsysan.pipeline.packed_traces import pack_trace, unpack_trace


class Failure(msgspec.Struct, frozen=True):
    """Why a report could not be read; ``error`` is what to raise where it was the only one."""

    message: str
    error: NsysanError


Outcome: TypeAlias = "Trace | bytes | Failure"
"""A trace, one that is packed, or why there is none."""

Reading: TypeAlias = Callable[[Sequence[Path], ReadOptions], Iterable[Outcome]]
"""Reads the reports, and tells of each in their order."""


def read_here(paths: Sequence[Path], options: ReadOptions) -> Iterator[Outcome]:
    """One report after the other, in this process."""
    return (_read(path, options) for path in paths)


def _read(path: Path, options: ReadOptions) -> Outcome:
    try:
        return read_trace(path, options)
    except NsysanError as error:
        return Failure(error.message, error)


def read_packed(path: str, options: ReadOptions) -> bytes | tuple[str, str]:
    """The packed trace of one report, or the sentences of the error; a task of its own, wherever it runs."""
    try:
        trace = read_trace(Path(path), replace(options, progress=UNWATCHED, fold=None))
    except NsysanError as error:
        return error.message, error.hint
    return pack_trace(trace)


def outcome_of(found: bytes | tuple[str, str]) -> Outcome:
    """What a task handed back, as an outcome."""
    return found if isinstance(found, bytes) else Failure(found[0], InputError(*found))


def traces_of(paths: Sequence[Path], outcomes: Iterable[Outcome]) -> tuple[list[Trace], list[Note]]:
    """The traces that could be read, and a note for each report that costs the run itself alone.

    Raises the error of the first where none can be read, and of one that is not there at all, which is a slip.
    """
    traces: list[Trace] = []
    failures: list[tuple[Path, Failure]] = []
    for path, outcome in zip(paths, outcomes, strict=True):
        if isinstance(outcome, Failure):
            failures.append((path, outcome))
        else:
            traces.append(unpack_trace(outcome) if isinstance(outcome, bytes) else outcome)
    for path, failure in failures:
        if not traces or not path.exists():
            raise failure.error
    return traces, [_note(path, failure) for path, failure in failures]


def _note(path: Path, failure: Failure) -> Note:
    return Note("report_left_out", f"{display_text(path.name)} is left out, with its ranks: {failure.message}")
