"""How long kernels took, by their names, which have one number each over all reports of a job."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.attribution.duration_groups import GpuDurations, windowed_durations
from nsysan.model.distinct import coded, distinct
from nsysan.model.tables import IdArray
from nsysan.model.trace import Trace


class KernelNames:
    """Names by number, in the order they are met."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def all(self) -> list[str]:
        """The names, each at its number."""
        return list(self._places)

    def places(self, trace: Trace, name_ids: IdArray) -> IdArray:
        """The number of each name id of the trace."""
        ids, id_of = coded(name_ids)
        places = [self._places.setdefault(trace.text(name_id), len(self._places)) for name_id in ids.tolist()]
        numbers: IdArray = np.array(places, np.int32)[id_of]
        return numbers


def kernel_durations(
    traces: Sequence[Trace], activities: Activities, window_ns: tuple[int, int], names: KernelNames
) -> GpuDurations:
    """The durations of the kernels among the activities that are in the window, by name."""
    is_kernel = activities.source == SOURCES.index("kernels")
    kernels = activities if is_kernel.all() else activities.take(is_kernel)
    keys = np.empty(len(kernels), np.int32)
    for report in distinct(kernels.report).tolist():
        table, of_report = traces[report].kernels, kernels.report == report
        if table is not None:
            keys[of_report] = names.places(traces[report], table.name_id[kernels.row[of_report]])
    return GpuDurations.of(windowed_durations(kernels, keys, 0, window_ns), 0)
