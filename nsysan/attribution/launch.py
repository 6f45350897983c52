"""Which call launched each piece of GPU work, by process and correlation id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.model.tables import ABSENT, BoolArray, Int64Array, RuntimeCalls
from nsysan.model.trace import PROCESS_BITS, Trace

NO_CALL = -1
"""The row of the call where none launched the work, or none was recorded."""


@dataclass(frozen=True, slots=True, eq=False)
class Launches:
    """The launching call of every record of GPU work of one report, as a row of ``Trace.runtime_calls``.

    Correlation ids repeat over processes, so both are compared. Of several calls with one id the lowest event class
    counts (the runtime's call holds the driver's), then the first; ``is_repeated`` marks the others. Id 0 is none.
    """

    rows: Mapping[str, Int64Array]
    """By table of the trace; ``NO_CALL`` where there is none."""
    is_repeated: BoolArray

    def of(self, activities: Activities) -> Int64Array:
        """The row of the call of each activity of this report."""
        found = np.full(len(activities), NO_CALL)
        for source, name in enumerate(SOURCES):
            if name in self.rows:
                chosen = np.flatnonzero(activities.source == source)
                found[chosen] = self.rows[name][activities.row[chosen]]
        return found


def join_launches(trace: Trace) -> Launches:
    """The calls behind the GPU work of the trace; without calls every record has none."""
    calls = trace.runtime_calls
    tables = trace.gpu_tables()
    if calls is None or not len(calls):
        return Launches({name: np.full(len(table), NO_CALL) for name, table in tables.items()}, np.empty(0, np.bool_))
    processes = np.unique(calls.global_tid & PROCESS_BITS)
    call_keys = _Keys.over(processes, calls.correlation_id)
    keys = call_keys.of(calls.global_tid & PROCESS_BITS, calls.correlation_id)
    order = _first_class_first(keys, calls)
    is_repeated = np.zeros(len(calls), np.bool_)
    repeats = (keys[order][1:] == keys[order][:-1]) & (keys[order][1:] != ABSENT)
    is_repeated[order[1:][repeats]] = True
    unique = order[np.concatenate([[True], ~repeats]) & (keys[order] != ABSENT)]
    rows = {
        name: _look_up(keys[unique], unique, call_keys.of(table.global_pid, table.correlation_id))
        for name, table in tables.items()
    }
    return Launches(rows, is_repeated)


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """One number for a process and a correlation id; ``ABSENT`` where either is unknown."""

    processes: Int64Array
    id_count: int

    @classmethod
    def over(cls, processes: Int64Array, correlation_ids: Int64Array) -> _Keys:
        # ids beyond 40 bits are damage, CUPTI's have 32: they pair with nothing
        return cls(processes, min(int(correlation_ids.max(initial=0)), 1 << 40) + 1)

    def of(self, global_pids: Int64Array, correlation_ids: Int64Array) -> Int64Array:
        places = np.minimum(np.searchsorted(self.processes, global_pids), len(self.processes) - 1)
        known = (self.processes[places] == global_pids) & (correlation_ids > 0) & (correlation_ids < self.id_count)
        return np.where(known, places * self.id_count + np.where(known, correlation_ids, 0), ABSENT)


def _first_class_first(keys: Int64Array, calls: RuntimeCalls) -> Int64Array:
    """The calls by key; of one key the lowest class first, an unknown one last, then by begin."""
    known_class = np.where(calls.event_class == ABSENT, np.iinfo(np.int64).max, calls.event_class)
    return np.lexsort((calls.start_ns, known_class, keys))


def _look_up(keys: Int64Array, rows: Int64Array, wanted: Int64Array) -> Int64Array:
    if not len(keys):
        return np.full(len(wanted), NO_CALL)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where((keys[places] == wanted) & (wanted != ABSENT), rows[places], NO_CALL)
