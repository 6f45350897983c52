"""The GPU work of each device as one list of activities, and the records that cannot be counted as work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.kernel_class import classify
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.columns import as_few_bytes
from nsysan.model.copies import CopyKind
from nsysan.model.distinct import Distinct, distinct
from nsysan.model.partition import Activity
from nsysan.model.tables import ABSENT, Copies, GpuActivities, Kernels, Table
from nsysan.model.trace import GPU_TABLES, IMPOSSIBLE_NS, Trace
from nsysan.timeline.occupancy import KindArray
from nsysan.timeline.ordering import is_ascending, order_of

SOURCES = GPU_TABLES
"""What ``Activities.source`` is an index into."""


class Activities(Table, frozen=True):
    """GPU work in order of start (then end, source, row); ``kind`` is one ``Activity`` bit.

    ``row`` of ``source`` (an index into ``SOURCES``) of the trace of ``report`` is the record.
    """

    start_ns: Int64Array
    end_ns: Int64Array
    kind: KindArray
    report: IdArray
    source: IdArray
    row: IdArray

    def are_of(self, table: str) -> BoolArray:
        """Which of them are records of this one of ``SOURCES``."""
        found: BoolArray = self.source == SOURCES.index(table)
        return found


class DeviceRecords(msgspec.Struct, frozen=True):
    """What one process did on one CUDA device, counted.

    ``fault_counts`` has a row for each of ``SOURCES``: how many records have no fault, then how many have each of
    ``FAULTS``.
    """

    global_pid: int
    device_id: int
    fault_counts: Int64Array

    @property
    def excluded_records(self) -> dict[str, int]:
        """How many records were left out, by why."""
        counts = zip(FAULTS, self.fault_counts[:, 1:].sum(axis=0).tolist(), strict=True)
        return {fault: count for fault, count in counts if count}


class DeviceActivities(DeviceRecords, frozen=True):
    """Its records by kind and by fault, and its work one by one."""

    activities: Activities


def collect_activities(trace: Trace, report: int) -> list[DeviceActivities]:
    """The work of every (process, device) of the trace that has GPU records, in order of process and device."""
    tables = [
        _Records(table, kinds_of(trace, table), SOURCES.index(name))
        for name, table in trace.gpu_tables().items()
        if len(table)
    ]
    return list(_split_by_owner(tables, report))


class _Records(msgspec.Struct, frozen=True, eq=False):
    """The records of one of ``SOURCES`` with the ``Activity`` of each."""

    table: GpuActivities
    kinds: KindArray
    source: int

    def take(self, rows: Int64Array, report: int) -> Activities:
        """Those at the rows, in their order."""
        return Activities(
            start_ns=self.table.start_ns[rows],
            end_ns=self.table.end_ns[rows],
            kind=self.kinds[rows],
            report=np.broadcast_to(np.int32(report), len(rows)),
            source=np.broadcast_to(np.int8(self.source), len(rows)),
            row=as_few_bytes(rows),
        )


def in_order(activities: Activities) -> Activities:
    """The activities in their total order, whatever order the records had in the file."""
    ties = (activities.end_ns, activities.report, activities.source, activities.row)
    order = order_of(activities.start_ns, *ties)
    return activities if is_ascending(order) else activities.take(order)


def solid_ones(activities: Activities) -> Activities:
    """Those that take time: one of no length fills nothing, so it neither begins nor ends a gap."""
    is_solid = activities.end_ns > activities.start_ns
    return activities if is_solid.all() else activities.take(is_solid)


def activity_name(traces: Sequence[Trace], activities: Activities, position: int) -> str:
    """What one activity is called: the kernel's name as recorded, or what kind of record it is."""
    trace = traces[int(activities.report[position])]
    source = SOURCES[int(activities.source[position])]
    if source == "kernels" and trace.kernels is not None:
        return trace.text(int(trace.kernels.name_id[int(activities.row[position])]))
    return _UNNAMED[source]


_UNNAMED = {"copies": "[memory copy]", "memsets": "[memset]", "graph_launches": "[CUDA graph]"}


def _split_by_owner(tables: Sequence[_Records], report: int) -> Iterator[DeviceActivities]:
    for global_pid in _values(records.table.global_pid for records in tables):
        of_process = [np.flatnonzero(records.table.global_pid == global_pid) for records in tables]
        devices = [records.table.device_id[rows] for records, rows in zip(tables, of_process, strict=True)]
        for device_id in _values(devices):
            pieces = [
                records.take(rows[of_row == device_id], report)
                for records, rows, of_row in zip(tables, of_process, devices, strict=True)
            ]
            yield _device_activities(global_pid, device_id, Activities.concatenate(pieces))


def _values(columns: Iterable[IdArray]) -> list[int]:
    return sorted({value for column in columns for value in distinct(column).tolist()})


def _device_activities(global_pid: int, device_id: int, records: Activities) -> DeviceActivities:
    faults, kinds = faults_of(records.start_ns, records.end_ns), len(FAULTS) + 1
    counts = np.bincount(records.source.astype(np.int64) * kinds + faults, minlength=len(SOURCES) * kinds)
    return DeviceActivities(
        global_pid,
        device_id,
        counts.reshape(len(SOURCES), kinds),
        in_order(_clip_at_time_zero(records if not faults.any() else records.take(faults == 0))),
    )


FAULTS = ("without_time", "impossible_time", "negative_length", "before_capture")
"""Why a record is left out: start and end are 0; a time over ten days away; end before start; over before time zero."""


def faults_of(start_ns: Int64Array, end_ns: Int64Array) -> IdArray:
    """Per record 0, or 1 + the index of the first of ``FAULTS`` that it has."""
    if start_ns.min(initial=1) > 0 and end_ns.max(initial=1) <= IMPOSSIBLE_NS and (end_ns >= start_ns).all():
        # as it is in all but damaged reports, and quickly seen
        return np.zeros(len(start_ns), np.int8)
    faults = (
        (start_ns == 0) & (end_ns == 0),
        (np.minimum(start_ns, end_ns) < -IMPOSSIBLE_NS) | (np.maximum(start_ns, end_ns) > IMPOSSIBLE_NS),
        end_ns < start_ns,
        (end_ns <= 0) & (start_ns < 0),
    )
    return np.select(faults, range(1, len(FAULTS) + 1), default=0).astype(np.int8)


def _clip_at_time_zero(activities: Activities) -> Activities:
    if not (activities.start_ns < 0).any():
        return activities
    return replace(activities, start_ns=np.maximum(activities.start_ns, 0))


def kinds_of(trace: Trace, table: GpuActivities) -> KindArray:
    """The ``Activity`` bit of each record of this one of the trace's tables."""
    if isinstance(table, Kernels):
        ids = Distinct.of(table.name_id)
        kinds = [int(classify(trace.text(name_id)).activity) for name_id in ids.values.tolist()]
        return ids.own_values(table.name_id, np.array(kinds, np.uint8))
    if isinstance(table, Copies):
        return np.where(between_devices(table), np.uint8(Activity.COMMUNICATION), np.uint8(Activity.COPY))
    kind = Activity.GRAPH if table is trace.graph_launches else Activity.COPY
    return np.full(len(table), int(kind), np.uint8)


def between_devices(copies: Copies) -> BoolArray:
    """Which copies go from one GPU to another: copy kind 10, or 8 with two device ids."""
    both_known = (copies.src_device_id != ABSENT) & (copies.dst_device_id != ABSENT)
    other_device = both_known & (copies.src_device_id != copies.dst_device_id)
    between: BoolArray = (copies.copy_kind == CopyKind.PEER_TO_PEER) | (
        (copies.copy_kind == CopyKind.DEVICE_TO_DEVICE) & other_device
    )
    return between
