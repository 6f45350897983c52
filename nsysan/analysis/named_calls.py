"""Calls of the host by name: how often, how long, and how much of it on threads that launch work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import Distinct, coded, first_rows
from nsysan.model.tables import OsCalls, RuntimeCalls
from nsysan.model.text import display_text
from nsysan.model.trace import Trace
from nsysan.timeline.ordering import grouped_rows

MOST_NAMES = 60
_VERSION = re.compile(r"_v\d+$")

Window = tuple[int, int]


class CallsOfName(msgspec.Struct, frozen=True):
    """The calls of one function that lasted in a window of their report; times are cut to it.

    ``on_launching_ns`` passed on threads that launch work, the only ones for which a GPU waits. Calls inside others
    count in both.
    """

    name: str
    count: int
    total_ns: int
    on_launching_ns: int
    median_ns: float
    longest_ns: int


class _Calls(msgspec.Struct, frozen=True, eq=False):
    """Calls with the place of their name among those met, cut to the window."""

    name: Int64Array
    inside_ns: Int64Array
    whole_ns: Int64Array
    launching: BoolArray


def report_windows(job: Job) -> dict[int, Window]:
    """From the begin of the first window to the end of the last, of each report whose devices did any work."""
    windows: dict[int, Window] = {}
    for device in job.devices:
        begin, end = int(device.occupancy.bounds_ns[0]), int(device.occupancy.bounds_ns[-1])
        earlier = windows.get(device.report, (begin, end))
        windows[device.report] = min(earlier[0], begin), max(earlier[1], end)
    return windows


def launching_threads(job: Job, report: int) -> Int64Array:
    """The threads that launched work, as global tids."""
    host = job.idle.threads[report].host
    threads: Int64Array = Distinct.of(host.calls.global_tid[host.launching]).values
    return threads


def cuda_calls(job: Job) -> tuple[CallsOfName, ...]:
    """CUDA calls by function, without the version in its name; most time first.

    A call that an export holds twice, as nsys 2022.2 writes ``cudaMemcpy_v3020`` and ``cudaMemcpy``, counts once.
    """
    return _by_name(job, {report: job.idle.threads[report].host.calls for report in report_windows(job)})


def os_calls(job: Job) -> tuple[CallsOfName, ...]:
    """Calls of the operating system by function, as far as nsys found them long enough; most time first."""
    return _by_name(job, {report: job.idle.threads[report].os_calls for report in report_windows(job)})


def _by_name(job: Job, tables: dict[int, RuntimeCalls] | dict[int, OsCalls]) -> tuple[CallsOfName, ...]:
    names: dict[str, int] = {}
    windows = report_windows(job)
    found = [
        _of_report(job.traces[report], table, windows[report], launching_threads(job, report), names)
        for report, table in tables.items()
        if len(table)
    ]
    if not found:
        return ()
    rows = sorted(_rows(found, list(names)), key=lambda row: (-row.on_launching_ns, -row.total_ns, row.name))
    return tuple(rows[:MOST_NAMES])


def _of_report(
    trace: Trace, table: RuntimeCalls | OsCalls, window: Window, threads: Int64Array, names: dict[str, int]
) -> _Calls:
    inside_ns = np.minimum(table.end_ns, window[1]) - np.maximum(table.start_ns, window[0])
    ids, id_of = coded(table.name_id)
    plain = [_VERSION.sub("", display_text(trace.text(name_id))) for name_id in ids.tolist()]
    places = np.array([names.setdefault(name, len(names)) for name in plain], np.int64)
    names_of = places[id_of]
    counts = inside_ns >= 0
    if isinstance(table, RuntimeCalls) and len(set(plain)) < len(plain):
        counts &= _longest_of_each(table, names_of)
    kept = np.flatnonzero(counts)
    return _Calls(
        name=names_of[kept],
        inside_ns=inside_ns[kept],
        whole_ns=table.end_ns[kept] - table.start_ns[kept],
        launching=np.isin(table.global_tid[kept], threads),
    )


def _longest_of_each(calls: RuntimeCalls, names_of: Int64Array) -> BoolArray:
    """Which rows count: of those of one thread, correlation id and function the longest; without an id every row."""
    order = np.argsort(calls.start_ns - calls.end_ns, kind="stable")
    kinds = codes_of(calls.global_tid[order], calls.correlation_id[order], names_of[order])
    counts: BoolArray = calls.correlation_id == 0
    counts[order[first_rows(kinds)]] = True
    return counts


def _rows(found: Sequence[_Calls], names: Sequence[str]) -> Iterator[CallsOfName]:
    name = np.concatenate([calls.name for calls in found])
    inside_ns = np.concatenate([calls.inside_ns for calls in found])
    whole_ns = np.concatenate([calls.whole_ns for calls in found])
    launching = np.concatenate([calls.launching for calls in found])
    bounds = np.cumsum(np.bincount(name, minlength=len(names)))
    for place, rows in enumerate(np.split(grouped_rows(name, len(names)), bounds[:-1])):
        if not len(rows):
            continue
        yield CallsOfName(
            name=names[place],
            count=len(rows),
            total_ns=int(inside_ns[rows].sum()),
            on_launching_ns=int(inside_ns[rows][launching[rows]].sum()),
            median_ns=float(np.median(whole_ns[rows])),
            longest_ns=int(whole_ns[rows].max()),
        )
