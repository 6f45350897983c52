"""A recording again and again in one file: SQLite copies the rows, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nsysan.synth.numbering import Numbering
from nsysan.synth.repetition import Repetition
from nsysan.synth.tables import schema
from nsysan.synth.tables.records import VARYING, Value
from nsysan.synth.tables.schema import Release

_ALL = "TRUE"
_COPIED = {
    schema.KERNEL: _ALL,
    schema.MEMCPY: _ALL,
    schema.MEMSET: _ALL,
    schema.GRAPH_TRACE: _ALL,
    schema.RUNTIME: _ALL,
    schema.PROFILER_OVERHEAD: _ALL,
    schema.SYNCHRONIZATION: _ALL,
    schema.CUDA_EVENT: _ALL,
    schema.OS_RUNTIME: _ALL,
    schema.SCHEDULING: _ALL,
    schema.GPU_METRICS: _ALL,
    schema.GENERIC_EVENTS: _ALL,
    schema.NVTX_EVENTS: "eventType IN (34, 59, 60)",
    schema.MEMORY_USAGE: "correlationId IS NOT NULL",
}
"""Which rows happen again: not the names of NVTX domains and categories, nor memory that was reserved once."""
_TIMES = frozenset({"start", "end", "timestamp", "rawTimestamp"})

Tables = Mapping[str, Sequence[tuple[Value, ...]]]


def repeating_statements(repetition: Repetition, release: Release, tables: Tables) -> Iterator[str]:
    """The statements that add every later recording to the first, whose rows ``tables`` holds.

    Times grow by the period, correlation ids by the largest of the first recording, marker numbers by their count.
    """
    if repetition.count == 1:
        return
    id_count = max(_correlation_ids(release, tables), default=0)
    for table in filter(_COPIED.__contains__, tables):
        columns = [column.name for column in release.columns(table)]
        # a table of its own to read from: SQLite would set all rows aside that it reads from the table it writes
        yield f'CREATE TEMP TABLE first AS SELECT * FROM "{table}" WHERE {_COPIED[table]}'  # noqa: S608 -- our own tables
        for earlier in range(1, repetition.count):
            grown = _Grown(repetition.period_ns * earlier, id_count * earlier, repetition.numbering, earlier)
            yield f'INSERT INTO main."{table}" SELECT {", ".join(map(grown.value, columns))} FROM first'  # noqa: S608 -- the same
        yield "DROP TABLE first"


class _Grown:
    """How the columns of a later recording follow from those of the first."""

    def __init__(self, delay_ns: int, id_count: int, numbering: Numbering, recordings: int) -> None:
        self._delay_ns = delay_ns
        self._id_count = id_count
        self._numbering = numbering
        self._recordings = recordings

    def value(self, column: str) -> str:
        """The SQL expression of a column."""
        if column in _TIMES:
            return f'"{column}" + {self._delay_ns}'
        if column == "correlationId":  # 0 is no id
            return f"correlationId + {self._id_count} * (correlationId > 0)"
        if column == "text" and self._numbering.count:
            return self._renumbered()
        return f'"{column}"'

    def _renumbered(self) -> str:
        """What ``Numbering.later`` says, in SQL."""
        prefix = self._numbering.prefix
        number = f"substr(text, {len(prefix) + 1})"
        is_numbered = f"text GLOB '{prefix}[0-9]*' AND {number} NOT GLOB '*[^0-9]*'"
        later = f"'{prefix}' || (CAST({number} AS INTEGER) + {self._recordings * self._numbering.count})"
        return f"CASE WHEN {is_numbered} THEN {later} ELSE text END"


def _correlation_ids(release: Release, tables: Tables) -> Iterable[int]:
    for table, rows in tables.items():
        names = [column.name for column in release.parse_columns(VARYING[table])]
        if "correlationId" in names:
            position = names.index("correlationId")
            yield from (found for row in rows if isinstance(found := row[position], int))
