"""GPU work that no call launched, or that began before its call: why the GPU idled before it cannot be told."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import Int64Array
from nsysan.model.copies import UNIFIED_KINDS
from nsysan.model.run import Note
from nsysan.model.tables import Copies, GpuActivities
from nsysan.model.text import display_text
from nsysan.model.thresholds import DOUBTED_PAIRS_FRAC
from nsysan.model.units import format_count


def pairing_notes(host: Host) -> Iterator[Note]:
    """What share of a report's work has no call, or an impossible one; nothing where no calls were recorded at all."""
    tables = host.trace.gpu_tables()
    work_count = sum(map(len, tables.values()))
    if not len(host.calls) or not work_count:
        return
    pairs = [(table, host.launches.rows[name]) for name, table in tables.items()]
    uncalled = sum(_uncalled(table, rows) for table, rows in pairs)
    early = sum(_begun_before(host, table, rows) for table, rows in pairs)
    where = f"{format_count(work_count)} pieces of GPU work in {display_text(host.trace.name)}"
    if uncalled >= DOUBTED_PAIRS_FRAC * work_count:
        told = "have no recorded call: idle time before them has no cause, and no range or step has them"
        yield Note("work_without_call", f"{format_count(uncalled)} of {where} {told}.")
    if early >= DOUBTED_PAIRS_FRAC * work_count:
        told = "began before their calls: the clocks of host and GPU disagree, so causes of idle time are doubtful"
        yield Note("work_before_call", f"{format_count(early)} of {where} {told}.")


def _uncalled(table: GpuActivities, rows: Int64Array) -> int:
    """Work without a call, besides what the driver does of itself."""
    alone = rows == NO_CALL
    if isinstance(table, Copies):
        alone &= ~np.isin(table.copy_kind, UNIFIED_KINDS)
    return int(alone.sum())


def _begun_before(host: Host, table: GpuActivities, rows: Int64Array) -> int:
    is_called = rows != NO_CALL
    if is_called.all():
        return int(np.count_nonzero(host.calls.start_ns[rows] > table.start_ns))
    called = np.flatnonzero(is_called)
    return int(np.count_nonzero(host.calls.start_ns[rows[called]] > table.start_ns[called]))
