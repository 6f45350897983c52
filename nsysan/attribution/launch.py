"""Which call launched each piece of GPU work, by process and correlation id."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.columns import as_few_bytes
from nsysan.model.distinct import NOWHERE, Distinct
from nsysan.model.tables import ABSENT, RuntimeCalls
from nsysan.model.trace import PROCESS_BITS, Trace

NO_CALL = -1
"""The row of the call where none launched the work, or none was recorded."""


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
    processes = calls.global_tid & PROCESS_BITS
    keys = _Keys.over(processes, calls.correlation_id)
    key_of = keys.of(processes, calls.correlation_id)
    known = np.flatnonzero(key_of != ABSENT)
    pairs = Distinct.of(key_of[known])
    pair_of = pairs.places(key_of[known])
    call_of = _first_calls(calls, known, pair_of, len(pairs))
    is_repeated = np.zeros(len(calls), np.bool_)
    is_repeated[known[call_of[pair_of] != known]] = True
    rows = {
        name: as_few_bytes(np.append(call_of, NO_CALL))[pairs.places(keys.of(table.global_pid, table.correlation_id))]
        for name, table in tables.items()
    }
    return Launches(rows, is_repeated)


class _Keys(msgspec.Struct, frozen=True, eq=False):
    """One number for a process and a correlation id; ``ABSENT`` where either is unknown."""

    processes: Distinct
    id_count: int

    @classmethod
    def over(cls, processes: Int64Array, correlation_ids: Int64Array) -> _Keys:
        # ids beyond 40 bits are damage, CUPTI's have 32: they pair with nothing
        return cls(Distinct.of(processes), min(int(correlation_ids.max(initial=0)), 1 << 40) + 1)

    def of(self, global_pids: Int64Array, correlation_ids: Int64Array) -> Int64Array:
        places = self.processes.places(global_pids)
        known = (places != NOWHERE) & (correlation_ids > 0) & (correlation_ids < self.id_count)
        return np.where(known, places.astype(np.int64) * self.id_count + np.where(known, correlation_ids, 0), ABSENT)


def _first_calls(calls: RuntimeCalls, rows: Int64Array, pair_of: Int64Array, pair_count: int) -> Int64Array:
    """Each pair's call: of the lowest class, an unknown one last, then the first; ``rows[i]`` has ``pair_of[i]``."""
    call_of = np.empty(pair_count, np.int64)
    call_of[pair_of] = rows
    shared = np.zeros(pair_count, np.bool_)
    shared[pair_of[call_of[pair_of] != rows]] = True
    among = np.flatnonzero(shared[pair_of])
    shared_rows = rows[among]
    event_class = calls.event_class[shared_rows].astype(np.int64)
    known_class = np.where(event_class == ABSENT, np.iinfo(np.int64).max, event_class)
    order = np.lexsort((calls.start_ns[shared_rows], known_class, pair_of[among]))
    # of several rows with one pair the last that is written stays
    call_of[pair_of[among][order[::-1]]] = shared_rows[order[::-1]]
    return call_of
