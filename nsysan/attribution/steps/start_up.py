"""When the start-up of a device ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.distinct import coded
from nsysan.model.thresholds import START_UP_KERNEL_FRAC, START_UP_WORK_FRAC
from nsysan.model.trace import Trace


def start_up_end(steps: DeviceSteps, excluded: Sequence[Exclusion | None]) -> int:
    """Where the first step begins that is no warm-up; the end of the last closed step where all of them are."""
    warm = next((place for place, why in enumerate(excluded) if why is not Exclusion.WARM_UP), len(steps))
    return int(steps.bounds_ns[warm])


def start_up_end_without_steps(activities: Activities, trace: Trace) -> int | None:
    """Where every kernel function that holds 1 % of the kernel time has run once.

    None where no function holds as much, or where over half of the kernel time lies before.
    """
    kernels = trace.kernels
    rows = activities.row[activities.are_of("kernels")]
    if kernels is None or not len(rows):
        return None
    name_ids, name_of = coded(kernels.name_id[rows])
    durations_ns = (kernels.end_ns - kernels.start_ns)[rows]
    times_ns = np.bincount(name_of, weights=durations_ns)
    first_end_ns = np.full(len(name_ids), np.iinfo(np.int64).max)
    first_start_ns = first_end_ns.copy()
    np.minimum.at(first_start_ns, name_of, kernels.start_ns[rows])
    is_first = kernels.start_ns[rows] == first_start_ns[name_of]
    np.minimum.at(first_end_ns, name_of[is_first], kernels.end_ns[rows][is_first])
    significant = times_ns >= START_UP_KERNEL_FRAC * times_ns.sum()
    if not significant.any():
        return None
    end_ns = int(first_end_ns[significant].max())
    before_ns = int(durations_ns[kernels.start_ns[rows] < end_ns].sum())
    return end_ns if before_ns <= START_UP_WORK_FRAC * durations_ns.sum() else None
