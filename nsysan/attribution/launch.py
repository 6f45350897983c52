"""Which call launched each piece of GPU work, by process and correlation id."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.columns import as_few_bytes, part_of
from nsysan.model.distinct import NOWHERE, Distinct, blocks_of
from nsysan.model.tables import ABSENT, GpuActivities, RuntimeCalls
from nsysan.model.trace import PROCESS_BITS, Trace

NO_CALL = -1
"""The row of the call where none launched the work, or none was recorded."""

_LARGEST_ID = 1 << 40
"""Ids beyond are damage, CUPTI's have 32 bits: they pair with nothing."""
_SPARE_SLOT_COUNT = 1 << 16
"""So many slots may stay empty however few the work is."""


class Launches(msgspec.Struct, frozen=True, eq=False):
    """The launching call of every record of GPU work of one report, as a row of ``Trace.runtime_calls``.

    Correlation ids repeat over processes, so both are compared. Of several calls with one id the lowest event class
    counts (the runtime's call holds the driver's), then the first; ``is_repeated`` marks the others. Id 0 is none.
    """

    rows: Mapping[str, IdArray]
    """By table of the trace; ``NO_CALL`` where there is none."""
    is_repeated: BoolArray

    def of(self, activities: Activities, positions: Int64Array | None = None) -> Int64Array:
        """The row of the call of each activity of this report, or of those at these positions."""
        sources, records = activities.source, activities.row
        if positions is not None:
            sources, records = sources[positions], records[positions]
        found = np.full(len(sources), NO_CALL)
        for source, name in enumerate(SOURCES):
            if name in self.rows:
                chosen = np.flatnonzero(sources == source)
                found[chosen] = self.rows[name][records[chosen]]
        return found


def join_launches(trace: Trace) -> Launches:
    """The calls behind the GPU work of the trace; without calls every record has none."""
    calls = trace.runtime_calls
    tables = trace.gpu_tables()
    if calls is None or not len(calls):
        return Launches({name: np.full(len(table), NO_CALL) for name, table in tables.items()}, np.empty(0, np.bool_))
    slots = _Slots.over(calls.global_tid & PROCESS_BITS, calls.correlation_id)
    slot_of = slots.of(calls.global_tid & PROCESS_BITS, calls.correlation_id)
    call_of, is_repeated = _first_calls(calls, slot_of, slots.count)
    return Launches({name: _calls_of(table, slots, call_of) for name, table in tables.items()}, is_repeated)


class _Slots(msgspec.Struct, frozen=True, eq=False):
    """A number below ``count`` for each process and correlation id of a call; ``count`` itself is that of no call.

    Ids count up in each process: there is a slot for each number from the first to the last, or, where most of them
    would be empty, for each of the ``pairs`` that there are.
    """

    processes: Distinct
    first_id: int
    id_count: int
    pairs: Distinct | None

    @classmethod
    def over(cls, processes: Int64Array, correlation_ids: IdArray) -> _Slots:
        """The slots of calls of these processes with these ids."""
        is_id = (correlation_ids > 0) & (correlation_ids <= _LARGEST_ID)
        ids = correlation_ids if is_id.all() else correlation_ids[is_id]
        first_id, last_id = (int(ids.min()), int(ids.max())) if len(ids) else (1, 0)
        dense = cls(Distinct.of(processes), first_id, last_id - first_id + 1, None)
        if dense.count <= 4 * len(processes) + _SPARE_SLOT_COUNT:
            return dense
        numbers = dense.of(processes, correlation_ids)
        return cls(dense.processes, first_id, dense.id_count, Distinct.of(numbers[numbers < dense.count]))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.processes) * self.id_count if self.pairs is None else len(self.pairs)

    def of(self, global_pids: Int64Array, correlation_ids: IdArray) -> IdArray:
        """The slot of each of these."""
        slots: IdArray = np.empty(len(global_pids), np.int32 if self.count < np.iinfo(np.int32).max else np.int64)
        for rows in blocks_of(len(global_pids)):
            slots[rows] = self._of(self.processes.places(part_of(global_pids, rows)), correlation_ids[rows])
        return slots

    def _of(self, process_of: IdArray, correlation_ids: IdArray) -> Int64Array:
        ids = correlation_ids.astype(np.int64)
        known = (process_of != NOWHERE) & (ids >= self.first_id) & (ids < self.first_id + self.id_count)
        numbers = process_of.astype(np.int64) * self.id_count + (np.where(known, ids, self.first_id) - self.first_id)
        if self.pairs is not None:
            numbers = self.pairs.places(numbers).astype(np.int64)
            known &= numbers != NOWHERE
        return numbers if known.all() else np.where(known, numbers, self.count)


def _calls_of(table: GpuActivities, slots: _Slots, call_of: IdArray) -> IdArray:
    rows = np.empty(len(table), call_of.dtype)
    slot_of = slots.of(table.global_pid, table.correlation_id)
    for block in blocks_of(len(table)):
        rows[block] = call_of[slot_of[block]]
    return rows


def _first_calls(calls: RuntimeCalls, slot_of: IdArray, slot_count: int) -> tuple[IdArray, BoolArray]:
    """The call of each slot and ``NO_CALL`` of that of none; and which calls share the slot of another that counts."""
    call_of = np.full(slot_count + 1, NO_CALL, as_few_bytes(np.array([len(calls)])).dtype)
    numbers = np.arange(len(calls), dtype=call_of.dtype)
    for block in blocks_of(len(calls)):
        call_of[slot_of[block]] = numbers[block]
    call_of[slot_count] = NO_CALL
    others = [
        block.start + np.flatnonzero(call_of[slot_of[block]] != numbers[block]) for block in blocks_of(len(calls))
    ]
    unchosen = np.concatenate(others)
    is_shared = np.zeros(slot_count + 1, np.bool_)
    is_shared[slot_of[unchosen]] = True
    is_shared[slot_count] = False
    among = np.flatnonzero(is_shared[slot_of]) if is_shared.any() else unchosen[:0]
    ordered = among[_order(calls, among, slot_of)]
    # of several calls with one slot the last that is written stays
    call_of[slot_of[ordered[::-1]]] = ordered[::-1]
    is_repeated = np.zeros(len(calls), np.bool_)
    is_repeated[among] = call_of[slot_of[among]] != among
    return call_of, is_repeated


def _order(calls: RuntimeCalls, rows: Int64Array, slot_of: IdArray) -> Int64Array:
    """Those of a slot by class, an unknown one last, then by begin."""
    event_class = calls.event_class[rows].astype(np.int64)
    known_class = np.where(event_class == ABSENT, np.iinfo(np.int64).max, event_class)
    return np.lexsort((calls.start_ns[rows], known_class, slot_of[rows]))
