"""A log of NCCL, read line by line in memory that grows with what differs in it, not with its length."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from nsysan.ingest.nccl_log.calls import CallsInLog
from nsysan.ingest.nccl_log.communicators import CommunicatorsInLog
from nsysan.ingest.nccl_log.lines import LogLine, LogLines
from nsysan.ingest.nccl_log.timings import timing_in
from nsysan.ingest.nccl_log.transports import TransportsInLog
from nsysan.model.nccl_log import LoggedCall, LoggedTiming, NcclLog

MARKS = re.compile(rb"NCCL (?:INFO|WARN) |NCCL version [0-9]|(?i:elapsed)[^\n]{0,200}(?i:bus_?bw)")
"""What a log that tells something holds."""
MOST_TIMINGS = 10_000
_VERSION = re.compile(r"NCCL version (?P<version>[0-9][\w.+-]{0,40})")
_SETTING = re.compile(r"(?P<name>NCCL_[A-Z0-9_]{1,60}) set by environment to (?P<value>.{0,120}?)\.?$")


def read_nccl_log(path: Path, name: str) -> NcclLog:
    """What the log at ``path`` tells. Raises OSError where it cannot be read."""
    with path.open("rb") as file:
        reading = _Reading(LogLines(file))
        reading.take_all()
    return reading.result(name)


class _Reading:
    def __init__(self, lines: LogLines) -> None:
        self._lines = lines
        self._calls, self._communicators, self._transports = CallsInLog(), CommunicatorsInLog(), TransportsInLog()
        self._versions: dict[str, None] = {}
        self._settings: dict[str, str] = {}
        self._timings: list[LoggedTiming] = []
        self._warning_count = 0

    def take_all(self) -> None:
        for line in self._lines:
            self._warning_count += line.is_warning
            if not (self._calls.take(line) or self._communicators.take(line) or self._transports.take(line)):
                self._take_rest(line)

    def result(self, name: str) -> NcclLog:
        return NcclLog(
            name=name,
            line_count=self._lines.line_count,
            versions=tuple(self._versions),
            settings=dict(self._settings),
            networks=self._transports.networks(),
            adapters=self._transports.adapters(),
            adapter_speeds=self._transports.adapter_speeds(),
            links=self._transports.links(),
            gpu_direct=self._transports.gpu_direct(),
            communicators=self._communicators.found(),
            calls=self._named_calls(),
            threads=self._calls.threads(),
            omitted_call_count=self._calls.omitted_count,
            timings=tuple(self._timings),
            warning_count=self._warning_count,
        )

    def _take_rest(self, line: LogLine) -> None:
        if (found := _VERSION.match(line.message)) is not None:
            self._versions.setdefault(found["version"])
        elif (found := _SETTING.match(line.message)) is not None:
            self._settings.setdefault(found["name"], found["value"])
        elif len(self._timings) < MOST_TIMINGS and (timing := timing_in(line)) is not None:
            self._timings.append(timing)

    def _named_calls(self) -> tuple[LoggedCall, ...]:
        names = self._communicators.names()
        told = self._calls.told_apart()
        return tuple(replace(one.call, communicator=names.get((one.host, one.pid, one.address))) for one in told)
