"""Tables of Slurm's ``sacct``: with ``-p`` or ``-P``, or in columns as wide as the line of dashes says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from nsysan.ingest.written_figures import watch_ns
from nsysan.model.scheduler_jobs import ScheduledJob, SchedulerJobs
from nsysan.model.units import NS_PER_S

LONGEST_LINE_BYTES = 1 << 14
MOST_JOBS = 10_000
_HEADING = re.compile(r"\s*JobID(?:Raw)?[| ]")
_TELLING = frozenset({"Elapsed", "ElapsedRaw", "Start", "End", "Submit", "State", "NNodes"})
_JOB_ID = re.compile(r"[0-9]{1,12}(?:_[0-9]{1,9}|_\[[^\]]{1,100}\]|\+[0-9]{1,6})?")
_GPUS = re.compile(r"\bgres/gpu=([0-9]{1,7})\b")
_STATE = re.compile(r"[A-Z_]{2,20}")


class _Layout(msgspec.Struct, frozen=True):
    """The columns, and of a table without separators where each begins and ends.

    With ``-p`` a separator ends every line; with ``-P`` one at the end means an empty field.
    """

    names: tuple[str, ...]
    is_ended: bool
    spans: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, heading: str) -> _Layout:
        """The layout that a heading says."""
        is_ended = heading.rstrip().endswith("|")
        return cls(tuple(_separated(heading, is_ended=is_ended)), is_ended)

    def fields(self, line: str) -> dict[str, str] | None:
        """What a line tells, by column; None where it has other columns."""
        words = (
            [line[begin:end].strip() for begin, end in self.spans]
            if self.spans
            else _separated(line, is_ended=self.is_ended)
        )
        return dict(zip(self.names, words, strict=True)) if len(words) == len(self.names) else None


def looks_like_sacct(sample: bytes) -> bool:
    """Whether a file that begins so holds a table of ``sacct``."""
    lines = sample[:LONGEST_LINE_BYTES].decode("utf-8", "replace").splitlines()
    return any(_is_heading(line) for line in lines)


def read_sacct(path: Path, name: str) -> tuple[SchedulerJobs, ...]:
    """The jobs that the table at ``path`` tells of, empty where none. Raises OSError where it cannot be read."""
    jobs: list[ScheduledJob] = []
    malformed_count = 0
    with path.open("rb") as file:
        pieces = iter(lambda: file.readline(LONGEST_LINE_BYTES), b"")
        for fields in _rows(piece.decode("utf-8", "replace").rstrip("\r\n") for piece in pieces):
            if fields is None:
                malformed_count += 1
            elif len(jobs) < MOST_JOBS and _JOB_ID.fullmatch(fields.get("JobID") or fields.get("JobIDRaw") or ""):
                # rows of steps (12.batch, 12.0) tell of parts of a job
                jobs.append(_job(fields))
    return (SchedulerJobs(name=name, jobs=tuple(jobs), malformed_count=malformed_count),) if jobs else ()


def _is_heading(line: str) -> bool:
    return _HEADING.match(line) is not None and len(_TELLING & set(_Layout.of(line).names)) > 1


def _separated(line: str, *, is_ended: bool) -> list[str]:
    """The words of a line between separators, else those between blanks."""
    whole = line.strip()
    return (whole.removesuffix("|") if is_ended else whole).split("|") if "|" in line else line.split()


def _rows(lines: Iterable[str]) -> Iterator[dict[str, str] | None]:
    layout: _Layout | None = None
    for line in lines:
        if not line.strip():
            continue
        if _is_heading(line):
            layout = _Layout.of(line)
        elif layout is not None and not line.strip("- "):
            spans = tuple(found.span() for found in re.finditer("-+", line))
            layout = _Layout(layout.names, is_ended=False, spans=spans)
        elif layout is not None:
            yield layout.fields(line)


def _job(fields: Mapping[str, str]) -> ScheduledJob:
    begin_ns = _moment_ns(fields.get("Start"))
    waited_from_ns = _moment_ns(fields.get("Eligible")) or _moment_ns(fields.get("Submit"))
    waits = begin_ns is not None and waited_from_ns is not None and begin_ns >= waited_from_ns
    state = _STATE.match(fields.get("State", ""))
    gpus = _GPUS.search(fields.get("AllocTRES") or fields.get("ReqTRES") or "")
    nodes = fields.get("NNodes") or fields.get("AllocNodes") or ""
    return ScheduledJob(
        id=fields.get("JobID") or fields["JobIDRaw"],
        state=None if state is None else state[0],
        queue_ns=(begin_ns or 0) - (waited_from_ns or 0) if waits else None,
        run_ns=_run_ns(fields, begin_ns),
        node_count=int(nodes) if nodes.isdecimal() and len(nodes) <= 7 and int(nodes) else None,  # noqa: PLR2004
        gpu_count=None if gpus is None else int(gpus[1]),
    )


def _run_ns(fields: Mapping[str, str], begin_ns: int | None) -> int | None:
    raw, end_ns = fields.get("ElapsedRaw", ""), _moment_ns(fields.get("End"))
    if raw.isdecimal() and len(raw) < len(str(NS_PER_S)):
        return int(raw) * NS_PER_S
    if (elapsed_ns := watch_ns(fields.get("Elapsed", "").partition(".")[0])) is not None:
        return elapsed_ns
    return end_ns - begin_ns if begin_ns is not None and end_ns is not None and end_ns >= begin_ns else None


def _moment_ns(text: str | None) -> int | None:
    """A local time of day, from any moment on; None for ``Unknown`` and ``None``."""
    try:
        return int(datetime.fromisoformat(f"{(text or '')[:19]}+00:00").timestamp()) * NS_PER_S
    except ValueError:
        return None
