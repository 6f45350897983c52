"""Reading one report is one task, done here or elsewhere.

It hands back the sums of the report's GPU work, where they tell all that is asked of it, else the trace's columns, or
why there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from nsysan.attribution.folded_work import FoldedReport, FoldedWork
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import InputError, NsysanError
from nsysan.model.progress import UNWATCHED
from nsysan.model.run import Note
from nsysan.model.text import display_text
from nsysan.model.trace import Trace
from nsysan.pipeline.own_answers import OwnAnswers, answer_alone, without_records
from nsysan.pipeline.packing import packed, unpacked


class Failure(msgspec.Struct, frozen=True):
    """Why a report could not be read; ``error`` is what to raise where it was the only one."""

    message: str
    error: NsysanError


class Order(ReadOptions, frozen=True):
    """How to read, and what of a report is wanted.

    Where the options name a fold each report has one of its own, and sums of its work are all that is wanted. Where
    there are ``questions``, ids of analyses, what it answers by itself is.
    """

    questions: tuple[str, ...] = ()


class ReadReport(msgspec.Struct, frozen=True):
    """A report's trace; where ``work`` tells what it is asked of GPU work, the trace has none of it.

    Where there are answers, they are all it is asked for, and the trace has no records but, where ranks are compared,
    communication kernels and the calls behind them.
    """

    trace: Trace
    work: FoldedReport | None
    answers: OwnAnswers | None = None

    def record_counts(self) -> dict[str, int]:
        """How many records there are, by table of GPU work."""
        if self.work is not None:
            return self.work.record_counts()
        return {name: len(table) for name, table in self.trace.gpu_tables().items()}


Outcome: TypeAlias = "ReadReport | bytes | Failure"
"""A report, one that is packed, or why there is none."""

Reading: TypeAlias = Callable[[Sequence[Path], Order], Iterable[Outcome]]
"""Reads the reports, and tells of each in their order."""


def read_here(paths: Sequence[Path], options: Order) -> Iterator[Outcome]:
    """One report after the other, in this process."""
    return (_read(path, options, is_one_of_many=len(paths) > 1) for path in paths)


def _read(path: Path, options: Order, *, is_one_of_many: bool) -> Outcome:
    try:
        return _read_report(path, options, is_one_of_many=is_one_of_many)
    except NsysanError as error:
        return Failure(error.message, error)


def read_packed(path: str, options: Order) -> bytes | tuple[str, str]:
    """The packed report, or the sentences of the error; a task of its own, wherever it runs."""
    try:
        return packed(_read_report(Path(path), replace(options, progress=UNWATCHED), is_one_of_many=True))
    except NsysanError as error:
        return error.message, error.hint


def _read_report(path: Path, options: Order, *, is_one_of_many: bool) -> ReadReport:
    """The report; with its calls where it holds no kernels, for only these tell whether any ran all the same."""
    report = _as_asked(path, options, is_one_of_many=is_one_of_many)
    if options.with_host or report.record_counts().get("kernels"):
        return report
    return ReadReport(read_trace(path, replace(options, with_host=True, fold=None)), None)


def _as_asked(path: Path, options: Order, *, is_one_of_many: bool) -> ReadReport:
    """The report; of many that are folded each is in as few bytes as can be."""
    if options.questions:
        return _answered(read_trace(path, options), options.questions)
    if options.fold is None:
        return ReadReport(read_trace(path, options), None)
    fold = FoldedWork()
    trace = read_trace(path, replace(options, fold=fold))
    if fold.report is None and trace.kernels is not None and fold.fold_whole(trace):
        # it had to be read as a whole, which nobody need keep
        trace = without_records(trace)
    return ReadReport(trace, fold.report.counted() if fold.report is not None and is_one_of_many else fold.report)


def _answered(trace: Trace, questions: Sequence[str]) -> ReadReport:
    found = answer_alone(trace, questions)
    return ReadReport(trace, None) if found is None else ReadReport(*found)


def outcome_of(found: bytes | tuple[str, str]) -> Outcome:
    """What a task handed back, as an outcome."""
    return found if isinstance(found, bytes) else Failure(found[0], InputError(*found))


def reports_of(paths: Sequence[Path], outcomes: Iterable[Outcome]) -> tuple[list[ReadReport], list[Note]]:
    """The reports that could be read, and a note for each that costs the run itself alone.

    Raises the error of the first where none can be read, and of one that is not there at all, which is a slip.
    """
    reports: list[ReadReport] = []
    failures: list[tuple[Path, Failure]] = []
    for path, outcome in zip(paths, outcomes, strict=True):
        if isinstance(outcome, Failure):
            failures.append((path, outcome))
        else:
            reports.append(unpacked(outcome) if isinstance(outcome, bytes) else outcome)
    for path, failure in failures:
        if not reports or not path.exists():
            raise failure.error
    return reports, [_note(path, failure) for path, failure in failures]


def _note(path: Path, failure: Failure) -> Note:
    return Note("report_left_out", f"{display_text(path.name)} is left out, with its ranks: {failure.message}")
