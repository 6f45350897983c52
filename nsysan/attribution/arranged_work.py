"""The GPU work of each device as one list of activities, in loops that numba compiles.

Records lie nearly in order of time, table by table. They are merged, dealt to their devices, and those that come late
are moved up.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import msgspec
import numpy as np

from nsysan.attribution.activities import (
    FAULTS,
    SOURCES,
    Activities,
    DeviceActivities,
    collect_activities,
    faults_of,
    kinds_of,
)
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.tables import GpuActivities
from nsysan.model.trace import Trace
from nsysan.timeline.compiled import compiled
from nsysan.timeline.occupancy import KindArray

_MOST_OWNERS = 64
_MOST_MOVES_A_ROW = 8
"""Where late records would have to be moved further, sorting is quicker."""


def arrange_activities(trace: Trace, kernel_kinds: KindArray) -> list[DeviceActivities]:
    """What ``collect_activities(trace, 0)`` gives; ``kernel_kinds`` has the ``Activity`` bit of each kernel."""
    records = _records(trace, kernel_kinds)
    owners = None if records is None else _owners(records)
    arranged = None if records is None or owners is None else _arranged(records, owners)
    return collect_activities(trace, 0) if arranged is None else arranged


class _Records(msgspec.Struct, frozen=True, eq=False):
    """All records, table after table: ``bounds[i]`` to ``bounds[i + 1]`` are of ``sources[i]``."""

    sources: Int64Array
    bounds: Int64Array
    tables: Sequence[GpuActivities]
    start_ns: Int64Array
    end_ns: Int64Array
    kinds: KindArray


class _Owners(msgspec.Struct, frozen=True, eq=False):
    """Which process and device each record is of, by number; how many records each (row) has of each table (column)."""

    keys: list[tuple[int, int]]
    of_records: IdArray
    """Table after table, too."""
    counts: Int64Array


def _records(trace: Trace, kernel_kinds: KindArray) -> _Records | None:
    """The records; None where there are none, some have a fault, or some begin before time zero."""
    tables = {name: table for name, table in trace.gpu_tables().items() if len(table)}
    if not tables:
        return None
    start_ns = np.concatenate([table.start_ns for table in tables.values()])
    end_ns = np.concatenate([table.end_ns for table in tables.values()])
    if start_ns.min() < 0 or faults_of(start_ns, end_ns).any():
        return None
    kinds = [kernel_kinds if name == "kernels" else kinds_of(trace, table) for name, table in tables.items()]
    return _Records(
        sources=np.array([SOURCES.index(name) for name in tables]),
        bounds=np.cumsum([0, *map(len, tables.values())]),
        tables=list(tables.values()),
        start_ns=start_ns,
        end_ns=end_ns,
        kinds=np.concatenate(kinds),
    )


def _owners(records: _Records) -> _Owners | None:
    """The owners of the records in the order they are met; None where there are too many."""
    pids, devices = np.zeros((2, _MOST_OWNERS), np.int64)
    of_records, count = np.empty(len(records.start_ns), np.int32), 0
    of_tables = np.split(of_records, records.bounds[1:-1])
    for table, of_table in zip(records.tables, of_tables, strict=True):
        # of types that change numba would compile the loop anew
        global_pids, device_ids = (np.ascontiguousarray(ids, np.int64) for ids in (table.global_pid, table.device_id))
        count = compiled(_number_owners)(global_pids, device_ids, pids, devices, count, of_table)
        if count > _MOST_OWNERS:
            return None
    counts = np.array([np.bincount(of_table, minlength=count) for of_table in of_tables]).T.copy()
    return _Owners([*zip(pids[:count].tolist(), devices[:count].tolist(), strict=True)], of_records, counts)


def _arranged(records: _Records, owners: _Owners) -> list[DeviceActivities] | None:
    """The work of each device; None where the records lie too far from their order."""
    count, times = len(owners.of_records), (records.start_ns, records.end_ns)
    tails = np.cumsum(owners.counts).reshape(owners.counts.shape)
    begins = tails - owners.counts
    dealt = np.empty(count, np.int32)
    if not compiled(_deal)(*times, owners.of_records, records.bounds, begins, begins.copy(), dealt):
        return None
    times_ns, kinds = np.empty((2, count), np.int64), np.empty(count, np.uint8)
    sources, rows = np.empty(count, np.int8), np.empty(count, np.int32)
    compiled(_merge)(
        *times, records.bounds, records.sources, records.kinds, dealt, begins, tails, times_ns, kinds, sources, rows
    )
    start_ns, end_ns = times_ns
    activities = Activities(start_ns, end_ns, kinds, np.broadcast_to(np.int32(0), count), sources, rows)
    ends = tails[:, -1]
    starts = ends - owners.counts.sum(axis=1)
    works = [
        DeviceActivities(*key, _fault_counts(records, counts), activities.part(slice(first, last)))
        for key, counts, first, last in zip(owners.keys, owners.counts, starts.tolist(), ends.tolist(), strict=True)
    ]
    return sorted(works, key=lambda work: (work.global_pid, work.device_id))


def _fault_counts(records: _Records, counts: Int64Array) -> Int64Array:
    fault_counts = np.zeros((len(SOURCES), len(FAULTS) + 1), np.int64)
    fault_counts[records.sources, 0] = counts
    return fault_counts


def _number_owners(  # noqa: PLR0913, PLR0917 -- what goes in, and room for what comes out: numba makes no lists
    global_pids: Sequence[int],
    device_ids: Sequence[int],
    owner_pids: MutableSequence[int],
    owner_devices: MutableSequence[int],
    count: int,
    owners: MutableSequence[int],
) -> int:
    """Write which owner each row is of; how many there are, one more than there is room for if that is too little.

    ``count`` of them are known.
    """
    owner = count
    for row in range(len(owners)):
        # often the same as before
        if owner == count or global_pids[row] != owner_pids[owner] or device_ids[row] != owner_devices[owner]:
            owner = 0
        while owner < count and (global_pids[row] != owner_pids[owner] or device_ids[row] != owner_devices[owner]):
            owner += 1
        if owner == len(owner_pids):
            return owner + 1
        if owner == count:
            owner_pids[owner] = global_pids[row]
            owner_devices[owner] = device_ids[row]
            count += 1
        owners[row] = owner
    return count


def _deal(  # noqa: PLR0913, PLR0917 -- the same
    starts: Sequence[int],
    ends: Sequence[int],
    owners: Sequence[int],
    bounds: Sequence[int],
    begins: Sequence[Sequence[int]],
    fills: Sequence[MutableSequence[int]],
    dealt: MutableSequence[int],
) -> bool:
    """Write the rows owner by owner, those of an owner table by table, and these in order of start, end, and row.

    False where too many have to be moved for that. ``begins`` and ``fills`` (owners by tables) say where they go.
    """
    left = len(starts) * _MOST_MOVES_A_ROW
    for table in range(len(bounds) - 1):
        for row in range(bounds[table], bounds[table + 1]):
            owner = owners[row]
            first, at = begins[owner][table], fills[owner][table]
            fills[owner][table] = at + 1
            while at > first and (
                starts[dealt[at - 1]] > starts[row]
                or (starts[dealt[at - 1]] == starts[row] and ends[dealt[at - 1]] > ends[row])
            ):
                dealt[at] = dealt[at - 1]
                at -= 1
                left -= 1
            dealt[at] = row
            if left < 0:
                return False
    return True


def _merge(  # noqa: PLR0913, PLR0917 -- the same
    starts: Sequence[int],
    ends: Sequence[int],
    bounds: Sequence[int],
    table_sources: Sequence[int],
    row_kinds: Sequence[int],
    dealt: Sequence[int],
    heads: Sequence[MutableSequence[int]],
    tails: Sequence[Sequence[int]],
    times: Sequence[MutableSequence[int]],
    kinds: MutableSequence[int],
    sources: MutableSequence[int],
    rows: MutableSequence[int],
) -> None:
    """Write the activities owner by owner, in order of start, end, and table."""
    at = 0
    for owner in range(len(heads)):
        own_heads, own_tails = heads[owner], tails[owner]
        table = 0
        while table >= 0:
            table, row = -1, 0
            for other in range(len(own_heads)):
                if own_heads[other] < own_tails[other]:
                    head = dealt[own_heads[other]]
                    if (
                        table < 0
                        or starts[head] < starts[row]
                        or (starts[head] == starts[row] and ends[head] < ends[row])
                    ):
                        table, row = other, head
            if table >= 0:
                own_heads[table] += 1
                times[0][at] = starts[row]
                times[1][at] = ends[row]
                kinds[at] = row_kinds[row]
                sources[at] = table_sources[table]
                rows[at] = row - bounds[table]
                at += 1
