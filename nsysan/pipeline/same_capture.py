"""One capture given in several forms, as a report and its export for instance, is one rank and not several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.run import Note
from nsysan.model.tables import ABSENT
from nsysan.model.text import display_text
from nsysan.model.trace import GPU_TABLES, Trace
from nsysan.pipeline.report_tasks import ReadReport

_RECORDS = (*GPU_TABLES, "nvtx_ranges", "runtime_calls", "collective_calls")
_TEXT_IDS = frozenset({"name_id", "kind_id", "dtype_id", "group_id"})
"""Columns that hold keys of ``Trace.strings``, which each form counts in its own way."""


def without_repeats(reports: Sequence[ReadReport]) -> tuple[list[ReadReport], list[Note]]:
    """The reports, of one capture only the one with most records, and a note for each that was left out.

    Those of whose work only sums are known repeat none.
    """
    kept: list[ReadReport] = []
    notes = []
    for report in reports:
        place = next((place for place, other in enumerate(kept) if _is_repeat(report, other)), None)
        if place is None:
            kept.append(report)
            continue
        notes.append(_note(report.trace, kept[place].trace))
        kept[place] = max(kept[place], report, key=_record_count)
    return kept, notes


def _is_repeat(one: ReadReport, other: ReadReport) -> bool:
    return one.work is None and other.work is None and is_same_capture(one.trace, other.trace)


def is_same_capture(one: Trace, other: Trace) -> bool:
    """Whether both hold one and the same capture.

    They do where both tell that the session began in the same nanosecond, where nothing else that both tell
    contradicts it (profiler, host, length of the capture, rank, GPUs), where at least one kind of record is in both,
    and where every such kind has the same records in both: equal times, processes, streams and names. Kinds that only
    one holds do not matter: a form may lack some.
    """
    if not may_be_same_capture(one, other):
        return False
    shared = [name for name in _RECORDS if _is_told_by_both(name, one, other)]
    if not shared or any(len(getattr(one, name)) != len(getattr(other, name)) for name in shared):
        return False
    return all(_same_records(name, one, other) for name in shared)


def may_be_same_capture(one: Trace, other: Trace) -> bool:
    """Whether both may hold the same capture, as far as can be told without their records."""
    if one.session_start_utc_ns is None or one.session_start_utc_ns != other.session_start_utc_ns:
        return False
    return one.profiler is other.profiler and all(a == b for a, b in _told_by_both(one, other))


def _told_by_both(one: Trace, other: Trace) -> Iterator[tuple[object, object]]:
    facts = zip(_facts(one), _facts(other), strict=True)
    yield from ((a, b) for a, b in facts if a is not None and b is not None)
    uuids = {gpu.gpu_id: gpu.uuid for gpu in one.gpus if gpu.uuid}
    yield from ((uuids[gpu.gpu_id], gpu.uuid) for gpu in other.gpus if gpu.uuid and gpu.gpu_id in uuids)


def _facts(trace: Trace) -> tuple[object, ...]:
    return (trace.capture_ns, trace.identity.host, trace.rank)


def _is_told_by_both(table: str, one: Trace, other: Trace) -> bool:
    a, b = getattr(one, table), getattr(other, table)
    return a is not None and b is not None and bool(len(a) or len(b))


def _same_records(table: str, one: Trace, other: Trace) -> bool:
    """Whether two tables of one length hold the same rows, in any order; a column that one lacks is left out."""
    a, b = getattr(one, table).columns(), getattr(other, table).columns()
    names = [name for name in a if np.any(a[name] != ABSENT) and np.any(b[name] != ABSENT)]
    codes: dict[str, int] = {}
    return np.array_equal(
        _sorted_rows(one, {name: a[name] for name in names}, codes),
        _sorted_rows(other, {name: b[name] for name in names}, codes),
    )


def _sorted_rows(trace: Trace, columns: Mapping[str, Int64Array], codes: dict[str, int]) -> Int64Array:
    """The columns with their rows in an order that follows from the values alone."""
    values = np.stack(
        [_coded(trace, column, codes) if name in _TEXT_IDS else column for name, column in columns.items()]
    )
    return values[:, np.lexsort(values)]


def _coded(trace: Trace, ids: Int64Array, codes: dict[str, int]) -> Int64Array:
    """The texts behind the ids as numbers that are the same for both traces; ``codes`` is filled on the way."""
    known, places = coded(ids)
    numbers = [codes.setdefault(trace.text(text_id), len(codes)) for text_id in known.tolist()]
    return np.array(numbers, np.int64)[places.reshape(-1)]


def _record_count(report: ReadReport) -> int:
    tables = (getattr(report.trace, name) for name in _RECORDS)
    return sum(len(table) for table in tables if table is not None)


def _note(one: Trace, other: Trace) -> Note:
    names = f"{display_text(one.name)} and {display_text(other.name)}"
    return Note("same_content", f"{names} hold the same capture: it is counted once.")
