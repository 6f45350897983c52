"""Which steps say nothing about the steady state: warm-up at the begin, and steps that the profiler disturbed."""

from __future__ import annotations

from enum import Enum

import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.idle.codes import CAUSES, code_of
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.model.thresholds import DISTURBED_FRAC, WARM_UP_FACTOR
from nsysan.timeline.intervals import Intervals


class Exclusion(str, Enum):
    """Why a step is left out of what is said about steps."""

    WARM_UP = "warm_up"
    PROFILER = "profiler"


def step_causes_ns(steps: DeviceSteps, pieces: IdlePieces | None) -> Int64Array:
    """The idle time of each step by cause code: one row a step."""
    times_ns = np.zeros((len(steps), len(CAUSES)), np.int64)
    if pieces is None:
        return times_ns
    for cause in distinct(pieces.cause).tolist():
        rows = np.flatnonzero(pieces.cause == cause)
        of_cause = Intervals(pieces.start_ns[rows], pieces.end_ns[rows])
        times_ns[:, cause] = np.diff(of_cause.covered_until(steps.bounds_ns))
    return times_ns


def exclusions(steps: DeviceSteps, causes_ns: Int64Array, host: Host, global_pid: int) -> list[Exclusion | None]:
    """Why each step is excluded, None where it is steady.

    Warm-up: the first steps, as long as each loses over 2 % of its time to loading code or takes over 1.5 medians.
    Profiler: over 2 % lost to it, or it was started or stopped in the step.
    """
    durations_ns = steps.durations_ns
    loading = causes_ns[:, code_of(Cause.MODULE_LOADING)] > DISTURBED_FRAC * durations_ns
    slow = durations_ns > WARM_UP_FACTOR * np.median(durations_ns)
    warming = np.logical_and.accumulate(loading | slow)
    profiled = causes_ns[:, code_of(Cause.PROFILER_OVERHEAD)] > DISTURBED_FRAC * durations_ns
    profiled |= _holds_profiler_call(steps, host, global_pid)
    return [
        Exclusion.WARM_UP if warm else Exclusion.PROFILER if disturbed else None
        for warm, disturbed in zip(warming.tolist(), profiled.tolist(), strict=True)
    ]


def _holds_profiler_call(steps: DeviceSteps, host: Host, global_pid: int) -> BoolArray:
    holds = np.zeros(len(steps), np.bool_)
    rows = host.profiler_calls
    labels = steps.labelling().at(host.calls.start_ns[rows[host.processes_of(rows) == global_pid]])
    holds[labels[labels >= 0]] = True
    return holds
