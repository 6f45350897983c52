"""The GPU work of an export in slices of time, so that it need not be held as a whole.

Rows lie nearly in order of time. A slice has every record that begins before its end and was in no slice before; what
lies later in the file than records of the next slice is waited for, some blocks of rows long. Where one lies later
still, the work has to be read as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nsysan.ingest.blocks import Blocks, WholeNeededError
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.records import unshifted
from nsysan.ingest.nsys.tables import WORK, RecordTable
from nsysan.model.arrays import Int64Array
from nsysan.model.progress import Progress
from nsysan.model.tables import ABSENT, GpuActivities
from nsysan.model.trace import is_timed

FEWEST_ROWS = 1 << 18
"""A slice has so many records at least, but for the last one: each costs as much as some thousand of them."""
WAITED_BLOCKS = 4
"""So many blocks of rows more are read before it is taken for known which records begin before all of them."""
_UNREAD = ("context_id", "stream_id", "correlation_id")
"""Columns of which no sum is made; they are ``ABSENT`` in all records."""
_END_NS = int(np.iinfo(np.int64).max)

Slice = Mapping[str, GpuActivities]
"""The records of a slice by table of the trace, each table in the order of the file."""


def work_streams(export: OpenExport, shift_ns: int) -> dict[str, WorkStream] | None:
    """The GPU work that the export has by table of the trace; None where any of it must be read as a whole."""
    streams = {}
    for name, kind in WORK.items():
        table = export.table(kind.names)
        if table is None:
            continue
        columns = tuple(column for column in kind.columns if column.name not in _UNREAD)
        blocks = export.source.read_blocks(table, columns)
        if blocks is None:
            return None
        streams[name] = WorkStream(kind, table.name, blocks, shift_ns)
    return streams


def work_slices(streams: Mapping[str, WorkStream], progress: Progress) -> Iterator[Slice]:
    """Everything that the streams hold, slice after slice; records whose times cannot be are in the last one.

    Raises WholeNeededError where it must be read as a whole.
    """
    progress.begin("reading and summing up GPU work", most_rows(streams.values()))
    while (behind := min(streams.values(), key=lambda stream: stream.known_ns)).known_ns < _END_NS:
        progress.advance(behind.read())
        known_ns = min(stream.known_ns for stream in streams.values())
        # what begins before the session counts from its start, so nothing is told apart before that
        if 0 < known_ns < _END_NS and sum(stream.count_before(known_ns) for stream in streams.values()) >= FEWEST_ROWS:
            yield {name: stream.take(known_ns) for name, stream in streams.items()}
    yield {name: stream.take(_END_NS) for name, stream in streams.items()}


def most_rows(streams: Iterable[WorkStream]) -> int | None:
    """How many records there are at most in all of the streams, None where nobody knows."""
    counts = [stream.blocks.most_rows for stream in streams]
    return None if None in counts else sum(count for count in counts if count is not None)


class WorkStream:
    """The records of one kind, each kept until all that begin before it are known."""

    def __init__(self, kind: RecordTable[Any], table: str, blocks: Blocks, shift_ns: int) -> None:
        self.table = table
        self.blocks = blocks
        self.known_ns = -1
        """All records that begin before it have been read, if none lies later than so many whole blocks."""
        self._kind = kind
        self._shift_ns = shift_ns
        self._firsts_ns: list[int] = []
        self._taken_ns = 0
        self._kept: list[GpuActivities] = []
        self._untimed: list[GpuActivities] = []

    def read(self) -> int:
        """Read the next block; how many rows it has."""
        block = next(self.blocks.rows, None)
        if block is None:
            self.known_ns = _END_NS
            return 0
        records = self._records(block)
        timed = is_timed(records)
        if not timed.all():
            self._untimed.append(records.take(~timed))
            records = records.take(timed)
        if len(records):
            self._firsts_ns = [*self._firsts_ns[-WAITED_BLOCKS:], max(int(records.start_ns.min()), 0)]
            self.known_ns = min(self._firsts_ns)
            self._kept.append(records)
        if self.known_ns < self._taken_ns:
            raise WholeNeededError
        return len(timed)

    def _records(self, block: Sequence[Int64Array]) -> GpuActivities:
        names = [column.name for column in self._kind.columns]
        columns = dict.fromkeys(names, np.broadcast_to(np.int64(ABSENT), len(block[0])))
        columns |= zip((name for name in names if name not in _UNREAD), block, strict=True)
        columns |= {name: unshifted(columns[name], self._shift_ns) for name in ("start_ns", "end_ns")}
        records: GpuActivities = self._kind.record(**columns)
        return records

    def count_before(self, until_ns: int) -> int:
        """How many records are kept of blocks that begin before then."""
        return sum(len(records) for records in self._kept if records.start_ns[0] < until_ns)

    def take(self, until_ns: int) -> GpuActivities:
        """The records that begin before then, which are kept no longer; at the end those without a time, too."""
        taken: list[GpuActivities] = []
        kept: list[GpuActivities] = []
        for records in self._kept:
            # most blocks lie on one side, and of others the first records: what is not mixed need not be copied
            begun = records.start_ns < until_ns
            mixed = len(begun) if begun.all() else int(begun.argmin())
            taken.append(records.part(slice(mixed)))
            rest, has_begun = records.part(slice(mixed, None)), begun[mixed:]
            if has_begun.any():
                taken.append(rest.take(has_begun))
                rest = rest.take(~has_begun)
            kept.append(rest)
        taken, kept = [piece for piece in taken if len(piece)], [piece for piece in kept if len(piece)]
        if until_ns == _END_NS:
            taken += self._untimed
        self._kept, self._taken_ns = kept, until_ns
        return self._kind.record.concatenate(taken) if taken else self.nothing()

    def nothing(self) -> GpuActivities:
        """No records of this kind."""
        nothing: GpuActivities = self._kind.record(*[np.empty(0, np.int64)] * len(self._kind.columns))
        return nothing
