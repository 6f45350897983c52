"""Compute kernels beside communication against the same kernels alone: same name, same grid, same block."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.devices import Gpu
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.columns import taken
from nsysan.model.distinct import distinct, first_rows
from nsysan.model.partition import Activity
from nsysan.model.tables import ABSENT, Table
from nsysan.model.thresholds import BESIDE_FRAC, FEWEST_COMPARED_KERNELS, STEADY_FRAC, UNSTEADY_FRAC
from nsysan.model.trace import Trace
from nsysan.timeline.intervals import union
from nsysan.timeline.ordering import grouped_rows

_SHAPE_COLUMNS = 7
"""A kernel's name, and the sizes of grid and block along three axes."""


class ComparedKernels(Table, frozen=True):
    """One row for kernels of one name, grid and block that ran often enough alone and beside communication.

    ``activity`` is one of them, as a position among the GPU's activities. ``beside_ns`` is the time of those beside
    communication that communication ran meanwhile. Medians are in whole ns, rounded down.
    """

    activity: Int64Array
    alone_count: Int64Array
    alone_median_ns: Int64Array
    beside_count: Int64Array
    beside_median_ns: Int64Array
    beside_ns: Int64Array

    @property
    def slowdown_ns(self) -> Int64Array:
        """What the kernels beside communication took longer by: their count x the difference of the medians."""
        slower: Int64Array = self.beside_count * (self.beside_median_ns - self.alone_median_ns)
        return slower


def compared_kernels(job: Job, gpu: Gpu) -> ComparedKernels:
    """The compute kernels in the GPU's window that can be compared; none where their dimensions are not known."""
    rows, shape = _kernels_of_known_shape(job, gpu)
    if not len(rows):
        return ComparedKernels(*[rows] * len(ComparedKernels.__struct_fields__))
    activities = gpu.activities
    communicates = np.flatnonzero(activities.kind & np.uint8(Activity.COMMUNICATION | Activity.FUSED))
    covered = union(activities.start_ns[communicates], activities.end_ns[communicates])
    start_ns, end_ns = activities.start_ns[rows], activities.end_ns[rows]
    beside_ns, duration_ns = covered.within(start_ns, end_ns), end_ns - start_ns
    is_beside, is_alone = beside_ns >= BESIDE_FRAC * duration_ns, beside_ns == 0
    return _compared(rows, shape, duration_ns, (is_alone, is_beside & ~is_alone), beside_ns)


def _kernels_of_known_shape(job: Job, gpu: Gpu) -> tuple[Int64Array, IdArray]:
    """The compute kernels of some length that lie whole in the window, and a number for name, grid and block."""
    first_ns, last_ns = gpu.window_ns
    activities = gpu.activities
    inside = (activities.start_ns >= first_ns) & (activities.end_ns <= last_ns)
    inside &= (activities.end_ns > activities.start_ns) & (activities.kind == int(Activity.COMPUTE))
    rows = np.flatnonzero(inside & activities.are_of("kernels"))
    columns = _shape_columns(job, activities, rows)
    known = np.ones(len(rows), np.bool_)
    for column in columns:
        # what is absent needs all bits
        if column.dtype == np.int64:
            known &= column != ABSENT
    if not known.all():
        rows, columns = rows[known], [column[known] for column in columns]
    return rows, codes_of(activities.report[rows], *columns)


def _shape_columns(job: Job, activities: Activities, rows: Int64Array) -> list[IdArray]:
    """Name, grid and block of each of these kernels, a column each; ``ABSENT`` where they are not known."""
    reports = distinct(activities.report[rows]).tolist()
    if len(reports) == 1:
        return _shapes_in(job.traces[reports[0]], activities.row[rows])
    columns = [np.full(len(rows), ABSENT) for _ in range(_SHAPE_COLUMNS)]
    for report in reports:
        of_report = np.flatnonzero(activities.report[rows] == report)
        for column, own in zip(columns, _shapes_in(job.traces[report], activities.row[rows[of_report]]), strict=True):
            column[of_report] = own
    return columns


def _shapes_in(trace: Trace, rows: IdArray) -> list[IdArray]:
    """The same of kernels of one report."""
    if trace.kernels is None or trace.kernel_dimensions is None:
        return [np.full(len(rows), ABSENT)] * _SHAPE_COLUMNS
    return [taken(column, rows) for column in (trace.kernels.name_id, *trace.kernel_dimensions.columns().values())]


def _compared(
    rows: Int64Array, shape: IdArray, duration_ns: Int64Array, ways: tuple[BoolArray, BoolArray], beside_ns: Int64Array
) -> ComparedKernels:
    count = int(shape.max()) + 1
    alone, beside = (_Grouped.of(shape[way], duration_ns[way], count) for way in ways)
    chosen = np.flatnonzero(alone.varies_within(STEADY_FRAC) & beside.varies_within(UNSTEADY_FRAC))
    together_ns = np.zeros(count, np.int64)
    np.add.at(together_ns, shape[ways[1]], beside_ns[ways[1]])
    return ComparedKernels(
        activity=rows[first_rows(shape)[chosen]],
        alone_count=alone.counts[chosen],
        alone_median_ns=alone.median_ns[chosen],
        beside_count=beside.counts[chosen],
        beside_median_ns=beside.median_ns[chosen],
        beside_ns=together_ns[chosen],
    )


class _Grouped(msgspec.Struct, frozen=True, eq=False):
    """Durations by group, each group's from the shortest to the longest, one group after the other."""

    counts: Int64Array
    ordered_ns: Int64Array

    @classmethod
    def of(cls, group: IdArray, durations_ns: Int64Array, group_count: int) -> _Grouped:
        counts, ordered_ns = np.bincount(group, minlength=group_count), durations_ns[grouped_rows(group, group_count)]
        for of_group_ns in np.split(ordered_ns, np.cumsum(counts)[:-1]):
            of_group_ns.sort()
        return cls(counts, ordered_ns)

    @property
    def median_ns(self) -> Int64Array:
        """The mean of the two middle values in whole ns, 0 of a group without any."""
        last = np.maximum(self.counts - 1, 0)
        return (self._at(last // 2) + self._at(self.counts // 2)) // 2

    def varies_within(self, share: float) -> BoolArray:
        """Which groups are large enough, and have at most so much of their median between the outer tenths."""
        last = np.maximum(self.counts - 1, 0)
        spread_ns = self._at(last - last // 10) - self._at(last // 10)
        varies: BoolArray = (self.counts >= FEWEST_COMPARED_KERNELS) & (spread_ns <= share * self.median_ns)
        return varies

    def _at(self, rank: Int64Array) -> Int64Array:
        """The value of this rank in each group."""
        begins = np.cumsum(self.counts) - self.counts
        padded = np.append(self.ordered_ns, 0)
        return np.where(self.counts > 0, padded[(begins + rank).clip(max=len(self.ordered_ns))], 0)
