"""Which cause a CUDA call gives the time that a thread spends in it."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.cuda_calls import CallKind, is_any
from nsysan.attribution.grouping import RowsByKey
from nsysan.attribution.idle.codes import code_of
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.model.tables import RuntimeCalls
from nsysan.model.thresholds import LIBRARY_START_NS, LONG_CALL_NS
from nsysan.timeline.labelling import NOBODY

_ALWAYS = (
    (CallKind.SYNCHRONIZE, Cause.HOST_SYNC),
    (CallKind.QUERY, Cause.HOST_SYNC),
    (CallKind.COPY, Cause.BLOCKING_COPY),
    (CallKind.ALLOCATE, Cause.ALLOCATOR),
    (CallKind.FREE, Cause.ALLOCATOR),
    (CallKind.LOAD, Cause.MODULE_LOADING),
    (CallKind.GRAPH_BUILD, Cause.GRAPH_BUILD),
)
_WHEN_LONG = (
    (CallKind.ASYNC_COPY, Cause.BLOCKING_COPY),
    (CallKind.MODULE, Cause.MODULE_LOADING),
    (CallKind.LAUNCH, Cause.SLOW_LAUNCH),
)


def call_causes(calls: RuntimeCalls, kinds: IdArray, by_thread: RowsByKey, launches_first: BoolArray) -> IdArray:
    """The cause code of each call, ``NOBODY`` where the call holds nobody up; graph launches never have one.

    ``launches_first`` tells the calls that launched a function for the first time: where long, they load its code.
    """
    is_long = calls.end_ns - calls.start_ns > LONG_CALL_NS
    causes = np.full(len(calls), NOBODY, np.int8)
    for kind, cause in _ALWAYS:
        causes[kinds == kind] = code_of(cause)
    for kind, cause in _WHEN_LONG:
        causes[(kinds == kind) & is_long] = code_of(cause)
    loads_function = (kinds == CallKind.LAUNCH) & launches_first & is_long
    starts_library = _beside_loads(calls, kinds, by_thread) & is_long
    causes[loads_function | starts_library] = code_of(Cause.MODULE_LOADING)
    return causes


def is_wait_for_gpu(kinds: IdArray, causes: Int64Array) -> BoolArray:
    """Which calls end when the GPU has done what they wait for: synchronisations and copies that block, no queries."""
    waits: BoolArray = (kinds == CallKind.SYNCHRONIZE) | (causes == code_of(Cause.BLOCKING_COPY))
    return waits


def is_synchronising(kinds: IdArray) -> BoolArray:
    """Which calls wait for the GPU by their nature."""
    synchronising: BoolArray = is_any(kinds, (CallKind.SYNCHRONIZE, CallKind.COPY))
    return synchronising


def _beside_loads(calls: RuntimeCalls, kinds: IdArray, by_thread: RowsByKey) -> BoolArray:
    """Which freeing calls have a load of code on their thread close before, inside or after them."""
    beside = np.zeros(len(calls), np.bool_)
    for thread in distinct(calls.global_tid[kinds == CallKind.FREE]).tolist():
        rows = by_thread.of(thread)
        frees, loads = (rows[kinds[rows] == kind] for kind in (CallKind.FREE, CallKind.LOAD))
        ended_before = np.searchsorted(np.sort(calls.end_ns[loads]), calls.start_ns[frees] - LIBRARY_START_NS)
        begun_until = np.searchsorted(calls.start_ns[loads], calls.end_ns[frees] + LIBRARY_START_NS, side="right")
        beside[frees] = begun_until > ended_before
    return beside
