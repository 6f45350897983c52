"""What a report says twice: records that repeat each other, and names with several texts. Both are used, and said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from nsysan.attribution.activities import SOURCES, Activities, DeviceActivities
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.columns import concatenated
from nsysan.model.distinct import distinct
from nsysan.model.prose import spelled
from nsysan.model.run import Note
from nsysan.model.tables import GpuActivities
from nsysan.model.text import display_text
from nsysan.model.thresholds import REPEATED_ROWS_FRAC
from nsysan.model.trace import Trace, is_timed
from nsysan.model.units import counted, format_count
from nsysan.timeline.ordering import order_of

Repeats = Mapping[str, tuple[int, int]]
"""How many records repeat another one, and how many there are, by table of GPU work."""


class _Places(msgspec.Struct, frozen=True, eq=False):
    """Records, by the place of their table in ``SOURCES``, and their row there."""

    source: IdArray
    row: IdArray


def is_doubtful(repeated: int, count: int) -> bool:
    """Whether so many records of all repeat another one that it must be said."""
    return repeated > 0 and repeated >= REPEATED_ROWS_FRAC * count


def repeats_in(trace: Trace, works: Sequence[DeviceActivities]) -> Repeats:
    """The repeats of a trace, given the work of all its devices."""
    beside = [_beside_their_like(work.activities) for work in works]
    are_sound = not any(work.fault_counts[:, 1:].any() for work in works)
    found = {}
    for source, (name, table) in zip(map(SOURCES.index, trace.gpu_tables()), trace.gpu_tables().items(), strict=True):
        rows = [of_device.row[of_device.source == source] for of_device in beside]
        without_time = [] if are_sound else [np.flatnonzero(~is_timed(table))]
        found[name] = (repeated_count(table.take(concatenated([*without_time, *rows]))), len(table))
    return found


def _beside_their_like(activities: Activities) -> _Places:
    """Those that stand beside another record of their table with the same begin and end, as all that are equal do."""
    columns = (activities.start_ns, activities.end_ns, activities.source)
    firsts = np.flatnonzero(columns[0][1:] == columns[0][:-1])
    for column in columns[1:]:
        firsts = firsts[column[firsts + 1] == column[firsts]]
    places = distinct(np.concatenate([firsts, firsts + 1]))
    return _Places(activities.source[places], activities.row[places])


def _together(ascending_ns: Int64Array) -> BoolArray:
    """Which of the moments have an equal one beside them."""
    follows = ascending_ns[1:] == ascending_ns[:-1]
    together = np.zeros(len(ascending_ns), np.bool_)
    together[1:] |= follows
    together[:-1] |= follows
    return together


def doubt_notes(trace: Trace, repeats: Repeats) -> Iterator[Note]:
    """A note for each kind of GPU record that repeats itself, and one for names that are ambiguous."""
    where = f"in {display_text(trace.name)}"
    for name, (repeated, count) in repeats.items():
        if is_doubtful(repeated, count):
            kind = spelled(name)
            rows = f"{format_count(repeated)} of {format_count(count)} records of {kind} {where}"
            what = "equal an earlier one in every value; counts and totals include them, shares of the window do not"
            yield Note("repeated_records", f"{rows} {what}.")
    if trace.ambiguous_name_count:
        ids = counted(trace.ambiguous_name_count, "name id")
        yield Note("ambiguous_names", f"{ids} {where} with several texts: the first of each is used.")


def repeated_count(table: GpuActivities) -> int:
    """How many rows equal an earlier one in all columns."""
    processes = distinct(table.global_pid).tolist()
    if len(processes) > 1:
        # one after the other, so that the order of few rows is in memory
        return sum(_repeated_count(table.take(table.global_pid == process)) for process in processes)
    return _repeated_count(table)


def _repeated_count(table: GpuActivities) -> int:
    if not len(table):
        return 0
    order = order_of(table.start_ns)
    # few records begin in the same nanosecond, and only those are compared
    together = order[_together(table.start_ns[order])]
    columns: list[Int64Array] = [column[together] for column in table.columns().values()]
    ordered = np.lexsort(columns)
    equal = np.ones(len(together[1:]), np.bool_)
    for column in columns:
        equal &= column[ordered][1:] == column[ordered][:-1]
    return int(equal.sum())
