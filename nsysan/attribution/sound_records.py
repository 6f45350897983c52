"""Records of the host and samples that can be: damaged ones would hold a thread up for years, or lift any mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from nsysan.model.arrays import BoolArray
from nsysan.model.counters import COUNTERS, Counter
from nsysan.model.prose import spelled
from nsysan.model.run import Note
from nsysan.model.tables import ABSENT, CounterSamples, MemoryEvents, NvtxDetails, Table
from nsysan.model.text import display_text
from nsysan.model.trace import IMPOSSIBLE_BYTES, IMPOSSIBLE_NS, Trace
from nsysan.model.units import counted

HOST_TABLES = (
    "runtime_calls",
    "nvtx_ranges",
    "nvtx_marks",
    "profiler_overheads",
    "synchronizations",
    "os_calls",
    "scheduling_events",
    "memory_events",
    "allocator_states",
    "gpu_page_faults",
    "host_page_faults",
    "counter_samples",
    "network_samples",
    "cpu_samples",
    "gpu_switches",
)
"""The fields of a Trace that hold what the host did, and what was sampled."""
MOST_PERCENT = 200
"""What a unit may do is known to a few percent; a sample of twice all of it is damage."""
MOST_HZ = 10_000_000_000
_VALUED = (CounterSamples, MemoryEvents)
_DETAILS = {"nvtx_ranges": "nvtx_range_details", "nvtx_marks": "nvtx_mark_details"}


def without_damaged(trace: Trace) -> Trace:
    """The trace without host records that end before they begin or lie over ten days from session start.

    Samples of counters and memory events with a value that nothing can have are left out, too.
    """
    sound: dict[str, Any] = {}
    for name, table, kept in _host_tables(trace):
        if not kept.all():
            sound[name] = table.take(np.flatnonzero(kept))
            sound |= _details_of(trace, name, kept)
    return replace(trace, **sound) if sound else trace


def damage_notes(trace: Trace) -> Iterator[Note]:
    """What was left out of each table for its times, or its values."""
    for name, table, kept in _host_tables(trace):
        if left_out := int((~kept).sum()):
            rows = f"{counted(left_out, 'record')} of {spelled(name)} in {display_text(trace.name)}"
            what = "times or values" if isinstance(table, _VALUED) else "times"
            yield Note("damaged_host_records", f"Left out for impossible {what}: {rows}.")


def _details_of(trace: Trace, name: str, kept: BoolArray) -> dict[str, NvtxDetails]:
    """The details of the ranges or marks that are kept, at their new rows."""
    field = _DETAILS.get(name)
    details: NvtxDetails | None = None if field is None else getattr(trace, field)
    if field is None or details is None:
        return {}
    own = details.take(kept[details.row])
    return {field: replace(own, row=(np.cumsum(kept) - 1)[own.row])}


def _host_tables(trace: Trace) -> Iterator[tuple[str, Table, BoolArray]]:
    for name in HOST_TABLES:
        table: Table | None = getattr(trace, name)
        if table is not None:
            yield name, table, _is_sound(table)


def _is_sound(table: Table) -> BoolArray:
    columns = table.columns()
    start_ns = columns["start_ns"]
    # moments have no end, and a range that was still open has none either
    end_ns = columns.get("end_ns", start_ns)
    if end_ns.min(initial=0) == ABSENT:
        end_ns = np.where(end_ns == ABSENT, start_ns, end_ns)
    sound: BoolArray = end_ns >= start_ns
    if start_ns.min(initial=0) < -IMPOSSIBLE_NS or end_ns.max(initial=0) > IMPOSSIBLE_NS:
        sound &= (start_ns >= -IMPOSSIBLE_NS) & (end_ns <= IMPOSSIBLE_NS)
    return sound & _has_possible_value(table) if isinstance(table, _VALUED) else sound


def _has_possible_value(table: CounterSamples | MemoryEvents) -> BoolArray:
    if isinstance(table, CounterSamples):
        most = np.where(table.counter == COUNTERS.index(Counter.GPC_CLOCK), MOST_HZ, MOST_PERCENT)
        return np.asarray((table.value >= 0) & (table.value <= most))
    return np.asarray((table.size_bytes >= 0) & (table.size_bytes < IMPOSSIBLE_BYTES))
