"""How much longer one rank's compute kernels take than the same kernels of others, and whether they are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from nsysan.attribution.devices import Device
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import first_rows
from nsysan.model.partition import Activity
from nsysan.model.thresholds import (
    ALIKE_FRAC,
    ALIKE_TIME_FRAC,
    FEWEST_SHARED_KERNELS,
    MORE_WORK_FACTOR,
    SLOWER_FACTOR,
)
from nsysan.model.trace import Trace

_Key = tuple[str, tuple[int, ...]]
"""A name, and blocks and threads along each axis; no dimensions where these are not told, or not asked."""
_Kernels = Mapping[_Key, tuple[float, int]]
"""Mean duration and number of kernels."""


class KernelSpeed(msgspec.Struct, frozen=True):
    """One rank's kernels against those of others that they share.

    ``ratio`` is how much longer they take, at the median of their time, and ``is_uniform`` whether nearly all do by
    that ratio. ``slower_ns`` is what they take longer, all of them.
    """

    ratio: float
    is_uniform: bool
    slower_ns: float


class KernelSpeeds:
    """Compares the kernels of devices, whose kernels are counted once each."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._kernels: dict[str, _Kernels] = {}

    def count(self, device: Device) -> int:
        """How many compute kernels it ran."""
        return sum(count for _, count in self._of(device).values())

    def by_name(self, device: Device, others: Sequence[Device]) -> KernelSpeed | None:
        """Against kernels of the same name, which may have more to do; None where too few are shared."""
        return _compared(_named(self._of(device)), [_named(self._of(other)) for other in others])

    def of_equal_work(self, device: Device, others: Sequence[Device]) -> KernelSpeed | None:
        """Against those of the same name, grid and block that run as often, which have the same to do or nearly.

        None where too few are shared, or their dimensions are not told.
        """
        theirs = [self._of(other) for other in others]
        own = {
            key: found
            for key, found in self._of(device).items()
            if key[1] and all(_is_as_often(found[1], kernels.get(key, (0.0, 0))[1]) for kernels in theirs)
        }
        return _compared(own, theirs)

    def _of(self, device: Device) -> _Kernels:
        if device.id not in self._kernels:
            self._kernels[device.id] = _kernels_of(device, self._job.traces[device.report])
        return self._kernels[device.id]


def _kernels_of(device: Device, trace: Trace) -> _Kernels:
    activities = device.activities
    computes = activities.are_of("kernels") & (activities.kind == int(Activity.COMPUTE))
    rows: Int64Array = activities.row[computes]
    if trace.kernels is None or not len(rows):
        return {}
    dimensions = trace.kernel_dimensions
    columns = () if dimensions is None else tuple(column[rows] for column in dimensions.columns().values())
    codes = codes_of(trace.kernels.name_id[rows], *columns)
    counts, first = np.bincount(codes), first_rows(codes)
    totals = np.bincount(codes, weights=(trace.kernels.end_ns - trace.kernels.start_ns)[rows])
    names = [trace.text(name_id) for name_id in trace.kernels.name_id[rows[first]].tolist()]
    shapes = zip(*(column[first].tolist() for column in columns), strict=True) if columns else [()] * len(names)
    return {
        key: (total / count, count)
        for key, total, count in zip(zip(names, shapes, strict=True), totals.tolist(), counts.tolist(), strict=True)
    }


def _is_as_often(count: int, other: int) -> bool:
    return max(count, other) <= MORE_WORK_FACTOR * min(count, other)


def _named(kernels: _Kernels) -> _Kernels:
    """The same, whatever their dimensions."""
    found: dict[_Key, tuple[float, int]] = {}
    for (name, _), (mean_ns, count) in kernels.items():
        before_ns, before = found.get((name, ()), (0.0, 0))
        found[name, ()] = ((before_ns * before + mean_ns * count) / (before + count), before + count)
    return found


def _compared(own: _Kernels, theirs: Sequence[_Kernels]) -> KernelSpeed | None:
    shared = [key for key in own if all(key in kernels for kernels in theirs) and own[key][0] > 0]
    if len(shared) < FEWEST_SHARED_KERNELS:
        return None
    own_ns = np.array([own[key][0] for key in shared])
    usual_ns = np.array([np.median([kernels[key][0] for kernels in theirs]) for key in shared])
    counts = np.array([own[key][1] for key in shared])
    ratios, weights = own_ns / usual_ns, own_ns * counts
    order = np.argsort(ratios, kind="stable")
    middle = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    ratio = float(ratios[order][middle])
    alike = weights[np.abs(ratios / ratio - 1) <= ALIKE_FRAC].sum() / weights.sum()
    is_uniform = bool(ratio >= SLOWER_FACTOR and alike >= ALIKE_TIME_FRAC)
    return KernelSpeed(ratio, is_uniform, float(((own_ns - usual_ns) * counts).sum()))
