"""The saved artefact: everything nsysan found out about one or many reports, with no trace needed to show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from nsysan.model.findings import Diagnosis, Finding
from nsysan.model.profilers import Profiler
from nsysan.model.results import ResultSet
from nsysan.model.software import Software
from nsysan.model.trace import CaptureIdentity, RankSource

SCHEMA_VERSION = 1

OptionValue = str | int | float | bool | list[str] | None


class ReportInfo(msgspec.Struct, frozen=True):
    """One input. ``rank``, ``world_size`` and the clock figures are null where the trace does not tell them.

    ``unreadable_records`` counts, per source table, rows that were left out because a needed value was no integer.
    """

    name: str
    fingerprint: str
    sha256: str | None
    size_bytes: int
    reader: str
    profiler: Profiler
    nsys_version: str | None
    export_schema: str | None
    capture_ns: int | None
    session_start_utc_ns: str | None
    """Nanoseconds since 1970 as digits: they do not fit the numbers of JavaScript."""
    rank: int | None
    world_size: int | None
    clock_offset_ns: int | None
    """What to add to this report's times, at its session's begin, to put them on the first report's axis."""
    clock_residual_ns: int | None
    """The median distance of its ends of symmetric collectives from those of the other ranks, all on that axis."""
    unreadable_records: dict[str, int]
    rank_source: RankSource | None = None
    """What tells the ranks of the run."""
    clock_drift_frac: float | None = None
    """What more to add for each ns since the session's begin; 0.0 where no drift shows, null without an offset."""
    software: Software = msgspec.field(default_factory=Software)
    recorded: tuple[str, ...] | None = None
    """Which of ``RECORD_KINDS`` it holds, null where not everything was read."""


_WARNINGS = frozenset({"same_content", "report_left_out", "ranks_contested"})
"""What is given is hardly what was meant: a report twice, a broken one, those of several runs."""


class Note(msgspec.Struct, frozen=True):
    """Something about this run that a reader must know to trust its figures."""

    id: str
    sentence: str

    @property
    def is_warning(self) -> bool:
        """Whether it says that what was given is hardly what was meant."""
        return self.id in _WARNINGS


def warnings_first(notes: Sequence[Note]) -> tuple[Note, ...]:
    """The notes in their order, warnings before the others."""
    return tuple(sorted(notes, key=lambda note: not note.is_warning))


class Provenance(msgspec.Struct, frozen=True):
    """Where the figures come from. ``identity`` is null unless ``--keep-identity`` was given."""

    tool: str
    identity: tuple[CaptureIdentity, ...] | None


class Run(msgspec.Struct, frozen=True):
    """All of it: inputs, options, results by id, findings and the diagnosis."""

    schema_version: int
    nsysan_version: str
    created_utc: str
    options: Mapping[str, OptionValue]
    provenance: Provenance
    reports: tuple[ReportInfo, ...]
    notes: tuple[Note, ...]
    results: ResultSet
    diagnosis: Diagnosis
    findings: tuple[Finding, ...]
