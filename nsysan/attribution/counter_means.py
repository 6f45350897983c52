"""Means of sampled counters over a GPU's window, its parts and its steady steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.partition import Part
from nsysan.model.tables import CounterSamples
from nsysan.timeline.coverage import coverage
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.occupancy import Occupancy
from nsysan.timeline.ordering import order_of

LONGEST_SPAN = 1.5
"""A sample stands for the time since the one before, but for no more than so many usual distances: samples get lost."""
_BLOCK_SAMPLES = 1 << 18

Floats = npt.NDArray[np.float64]


class Series(msgspec.Struct, frozen=True, eq=False):
    """The samples of one metric in order of time; each stands for ``[start_ns, end_ns)``, in which none overlap."""

    counter: int
    metric_id: int
    start_ns: Int64Array
    end_ns: Int64Array
    values: IdArray

    @property
    def period_ns(self) -> int:
        """The usual time that a sample stands for."""
        return int(np.median(self.end_ns - self.start_ns))


def series_of(samples: CounterSamples) -> Iterator[Series]:
    """The metrics of one GPU; of two samples at one moment the later row counts."""
    order = order_of(samples.metric_id.astype(np.int64), samples.start_ns)
    metric_ids = samples.metric_id[order]
    bounds = np.flatnonzero(np.diff(metric_ids)) + 1
    for rows in np.split(order, bounds):
        last_of_moment = rows[np.append(np.diff(samples.start_ns[rows]) > 0, [True])]
        if len(last_of_moment) > 1:
            yield _series(samples.take(last_of_moment))


def sharing_times(found: Iterable[Series]) -> list[list[Series]]:
    """The metrics in groups that were sampled at the same times, as all of a GPU usually are."""
    groups: list[list[Series]] = []
    for series in found:
        home = next((group for group in groups if np.array_equal(group[0].end_ns, series.end_ns)), None)
        if home is None:
            groups.append([series])
        else:
            home.append(series)
    return groups


def _series(samples: CounterSamples) -> Series:
    """One metric, its samples in order of time."""
    distances_ns = np.diff(samples.start_ns)
    usual_ns = int(np.median(distances_ns))
    spans_ns = np.concatenate([[usual_ns], np.minimum(distances_ns, int(LONGEST_SPAN * usual_ns))])
    counter, metric_id = int(samples.counter[0]), int(samples.metric_id[0])
    return Series(counter, metric_id, samples.start_ns - spans_ns, samples.start_ns, samples.value)


class Sums(msgspec.Struct, frozen=True, eq=False):
    """Value x time of each metric (rows) and the time itself, in ns: over the window, in steady steps, in each part."""

    weighted: Floats
    lengths_ns: Floats
    sample_counts: Int64Array

    WINDOW: ClassVar[int] = 0
    STEPS: ClassVar[int] = 1
    PARTS: ClassVar[int] = 2


def sums(group: Sequence[Series], shift_ns: int, occupancy: Occupancy, steps: Intervals) -> Sums:
    """The sums of metrics that share their times, which ``shift_ns`` puts on the clock of the window.

    A sample counts for the window and for steps by how far it reaches into them, for a part only if it lies wholly in a
    stretch of it: one that reaches over several says nothing of any. ``sample_counts`` counts samples by column.
    Taken in blocks, for what a sample reaches into needs much more room than the sample.
    """
    columns = Sums.PARTS + len(Part)
    weighted, lengths_ns = np.zeros((len(group), columns)), np.zeros(columns)
    counts = np.zeros(columns, np.int64)
    for first in range(0, len(group[0].values), _BLOCK_SAMPLES):
        block = slice(first, first + _BLOCK_SAMPLES)
        edges_ns = np.stack([group[0].start_ns[block], group[0].end_ns[block]], axis=1) + shift_ns
        reach_ns = _reach(edges_ns, occupancy, steps)
        lengths_ns += reach_ns.sum(axis=0)
        counts += (reach_ns > 0).sum(axis=0)
        weighted += np.stack([series.values[block].astype(np.float64) for series in group]) @ reach_ns
    return Sums(weighted, lengths_ns, counts)


def _reach(edges_ns: Int64Array, occupancy: Occupancy, steps: Intervals) -> Floats:
    """How long each sample counts in each column of ``Sums``."""
    in_parts = coverage(occupancy, edges_ns.ravel())[::2]
    in_steps = np.diff(steps.covered_until(edges_ns.ravel()).reshape(-1, 2), axis=1)
    wholly = np.where(in_parts == np.diff(edges_ns, axis=1), in_parts, 0)
    return np.column_stack([in_parts.sum(axis=1), in_steps, wholly]).astype(np.float64)
