"""How long kernels took, by their names, which have one number each over all reports of a job."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.attribution.duration_groups import Durations, GpuDurations, dealt_by_key, windowed_durations
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.columns import concatenated
from nsysan.model.distinct import Distinct, distinct
from nsysan.model.trace import Trace
from nsysan.timeline.compiled import compiled

_GROUPED_ROWS = 1 << 18
"""So many are grouped at once: each group of a piece takes some memory of its own."""


class KernelNames:
    """Names by number, in the order they are met."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def all(self) -> list[str]:
        """The names, each at its number."""
        return list(self._places)

    def places(self, trace: Trace, name_ids: IdArray) -> IdArray:
        """The number of each name id of the trace."""
        ids = Distinct.of(name_ids)
        return ids.own_values(name_ids, self.numbers([trace.text(name_id) for name_id in ids.values.tolist()]))

    def numbers(self, names: Sequence[str]) -> IdArray:
        """The number of each of the names."""
        return np.array([self._places.setdefault(name, len(self._places)) for name in names], np.int32)


def kernel_durations(
    traces: Sequence[Trace], activities: Activities, window_ns: tuple[int, int], names: KernelNames
) -> GpuDurations:
    """The durations of the kernels among the activities that are in the window, by name."""
    is_kernel = activities.are_of("kernels")
    kernels = activities if is_kernel.all() else activities.take(is_kernel)
    keys = np.empty(len(kernels), np.int32)
    for report in distinct(kernels.report).tolist():
        table, of_report = traces[report].kernels, kernels.report == report
        if table is not None:
            keys[of_report] = names.places(traces[report], table.name_id[kernels.row[of_report]])
    return GpuDurations.of(windowed_durations(kernels, keys, 0, window_ns), 0)


class KernelFold:
    """The durations of kernels that are given piece by piece, all of them in the window."""

    def __init__(self, *, as_machine_code: bool) -> None:
        self._as_machine_code = as_machine_code
        self._found: list[GpuDurations] = []
        self._keys: list[IdArray] = []
        self._durations_ns: list[Int64Array] = []

    def add(self, activities: Activities, name_of: IdArray) -> None:
        """The kernels among the activities, with the number of the name of each kernel of their trace."""
        keys, durations_ns = (_looped if self._as_machine_code else _in_columns)(activities, name_of)
        self._keys.append(keys)
        self._durations_ns.append(durations_ns)
        if sum(map(len, self._keys)) >= _GROUPED_ROWS:
            self._group()

    def durations(self) -> list[GpuDurations]:
        """All of them, grouped in pieces."""
        if self._keys:
            self._group()
        return self._found

    def _group(self) -> None:
        keys, durations_ns = concatenated(self._keys), concatenated(self._durations_ns)
        if self._as_machine_code and len(keys):
            self._found.append(dealt_by_key(keys, durations_ns))
        else:
            nowhere = np.broadcast_to(np.int64(0), len(keys))
            self._found.append(GpuDurations.of(Durations(keys, nowhere, durations_ns, durations_ns, nowhere), 0))
        self._keys, self._durations_ns = [], []


def _in_columns(activities: Activities, name_of: IdArray) -> tuple[IdArray, Int64Array]:
    """The name and the duration of each kernel among the activities."""
    kernels = np.flatnonzero(activities.are_of("kernels"))
    return name_of[activities.row[kernels]], (activities.end_ns - activities.start_ns)[kernels]


def _looped(activities: Activities, name_of: IdArray) -> tuple[IdArray, Int64Array]:
    """The same."""
    keys, durations_ns = np.empty(len(activities), np.int32), np.empty(len(activities), np.int64)
    kernels = SOURCES.index("kernels")
    # of types that change numba would compile the loop anew
    sources, rows = np.ascontiguousarray(activities.source), np.ascontiguousarray(activities.row, np.int32)
    count = compiled(_pick)(kernels, sources, rows, activities.start_ns, activities.end_ns, name_of, keys, durations_ns)
    return keys[:count], durations_ns[:count]


def _pick(  # noqa: PLR0913, PLR0917 -- what goes in, and room for what comes out: numba makes no lists
    kernels: int,
    sources: Sequence[int],
    rows: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    name_of: Sequence[int],
    keys: MutableSequence[int],
    durations: MutableSequence[int],
) -> int:
    """Write name and duration of each activity that is a kernel; how many there are."""
    count = 0
    for at in range(len(sources)):
        if sources[at] == kernels:
            keys[count] = name_of[rows[at]]
            durations[count] = ends[at] - starts[at]
            count += 1
    return count
