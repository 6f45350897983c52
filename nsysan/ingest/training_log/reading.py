"""A training log, read line by line; of formats that tell of the same steps the one that tells most counts."""

from __future__ import annotations

import io
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from nsysan.ingest.training_log.line_format import line_formats
from nsysan.ingest.training_log.lines import lines_of, shown
from nsysan.ingest.training_log.settings import MARKS, SettingsInLog
from nsysan.ingest.training_log.steps_in_log import StepsInLog
from nsysan.ingest.written_figures import stamp_ns
from nsysan.model.training_log import LogFormat, LoggedStep, TrainingLog

FEWEST_STEPS = 2
"""One line alone tells of what came before the training as well."""


def tells_of_steps(sample: bytes) -> bool:
    """Whether bytes of a file hold a line that tells of a step."""
    readers = _Readers()
    return any(readers.step_in(line) is not None for line in lines_of(io.BytesIO(sample), readers.marks))


def read_training_log(path: Path, name: str) -> TrainingLog | None:
    """What the log at ``path`` tells, None where no two lines tell of steps. Raises OSError where it is unreadable."""
    reading = _Reading()
    with path.open("rb") as file:
        for line in lines_of(file, reading.marks):
            reading.take(line)
    return reading.result(name)


class _Readers:
    """The readers of all formats."""

    def __init__(self) -> None:
        formats = line_formats()
        self._readers = [(one.id, one.marks, one.reader()) for one in formats]
        self.marks = tuple(mark for one in formats for mark in one.marks)

    def step_in(self, raw: bytes) -> tuple[LogFormat, LoggedStep] | None:
        """What a line tells of a step, and which format it is of."""
        for log_format, marks, reader in self._readers:
            if any(mark in raw for mark in marks) and (found := reader(shown(raw))) is not None:
                return log_format, found
        return None


class _Reading:
    def __init__(self) -> None:
        self._readers = _Readers()
        self.marks = (*self._readers.marks, *MARKS)
        self._found: defaultdict[tuple[LogFormat, int | None], StepsInLog] = defaultdict(StepsInLog)
        self._settings = SettingsInLog()
        self._resolution_ns = {one.id: one.resolution_ns for one in line_formats()}

    def take(self, raw: bytes) -> None:
        if any(mark in raw for mark in MARKS):
            self._settings.take(shown(raw))
        if (told := self._readers.step_in(raw)) is not None:
            log_format, found = told
            self._found[log_format, found.bar_length].take(self._timed(log_format, found, raw))

    def result(self, name: str) -> TrainingLog | None:
        usable = {key: found for key, found in self._found.items() if len(found.steps) >= FEWEST_STEPS}
        if not usable:
            return None
        key = min(usable, key=lambda key: (list(LogFormat).index(key[0]), -_span_ns(usable[key].steps)))
        return TrainingLog(
            name=name,
            format=key[0],
            steps=tuple(usable[key].steps),
            settings=self._settings.result(),
            repeated_count=usable[key].repeated_count,
            omitted_count=usable[key].omitted_count,
            wall_resolution_ns=self._resolution_ns[key[0]],
        )

    def _timed(self, log_format: LogFormat, found: LoggedStep, raw: bytes) -> LoggedStep:
        """The step with the time of day of its line, where it has no time of its own."""
        stamp = None if found.wall_ns is not None else stamp_ns(shown(raw))
        if stamp is None:
            return found
        wall_ns, self._resolution_ns[log_format] = stamp
        return replace(found, wall_ns=wall_ns)


def _span_ns(steps: list[LoggedStep]) -> int:
    """The time from the first to the last of each run, together."""
    return sum(
        max(0, after.wall_ns - before.wall_ns)
        for before, after in pairwise(steps)
        if after.run == before.run and before.wall_ns is not None and after.wall_ns is not None
    )
