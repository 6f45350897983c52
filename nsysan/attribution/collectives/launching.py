"""Which calls each communication kernel runs: those of the stretch in which it was launched."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.collectives.calls import Calls
from nsysan.attribution.collectives.kinds import UNKNOWN
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.tables import RuntimeCalls

NO_SPAN = -1


class CallsOfKernels(msgspec.Struct, frozen=True, eq=False):
    """Kernel ``i`` runs the calls ``first[i]`` to ``first[i] + count[i]``.

    Where several kernels of one stretch share its calls and nothing tells which runs which, ``is_shared`` is set, and
    the calls are all of the stretch's.
    """

    first: Int64Array
    count: Int64Array
    is_shared: Int64Array


def calls_of_kernels(
    calls: Calls, launches: RuntimeCalls, launch_rows: Int64Array, kinds: Int64Array
) -> CallsOfKernels:
    """The calls of each kernel, launched by a row of ``launches``; ``kinds`` is what their names say.

    One kernel of a stretch runs all of its calls. As many kernels as calls run one each, in order, if no name
    contradicts that.
    """
    spans = _Spans.over(calls)
    span_of = spans.holding(launches, launch_rows)
    held = np.flatnonzero(span_of != NO_SPAN)
    held = held[np.lexsort((launches.start_ns[launch_rows[held]], span_of[held]))]
    span, kernel_count = span_of[held], np.bincount(span_of[held], minlength=len(spans.first))
    place = np.arange(len(held)) - (np.cumsum(kernel_count) - kernel_count)[span]
    alone = kernel_count[span] == 1
    one_each = ~alone & (kernel_count[span] == spans.count[span])
    # of a stretch with several kernels, call ``place`` is that of kernel ``place``
    own = spans.first[span] + np.where(one_each, place, 0)
    agrees = ~one_each | (kinds[held] == UNKNOWN) | (calls.kind[own] == kinds[held])
    disputed = np.zeros(len(spans.first), np.bool_)
    disputed[span[~agrees]] = True
    one_each &= ~disputed[span]
    first, count, is_shared = (np.zeros(len(launch_rows), np.int64) for _ in range(3))
    first[held] = np.where(one_each, own, spans.first[span])
    count[held] = np.where(one_each, 1, spans.count[span])
    is_shared[held] = ~alone & ~one_each
    return CallsOfKernels(first, count, is_shared)


class _Spans(msgspec.Struct, frozen=True, eq=False):
    """The stretches that launch, in order of thread and begin, with the calls of each."""

    first: Int64Array
    count: Int64Array
    global_tid: Int64Array
    start_ns: Int64Array
    end_ns: Int64Array

    @classmethod
    def over(cls, calls: Calls) -> _Spans:
        """The stretches of the calls, which are in order of them."""
        change = (calls.global_tid[1:] != calls.global_tid[:-1]) | (calls.span_start_ns[1:] != calls.span_start_ns[:-1])
        change |= calls.span_end_ns[1:] != calls.span_end_ns[:-1]
        first = np.flatnonzero(np.concatenate([[True], change]))[: len(calls)]
        count = np.diff(np.append(first, len(calls)))[: len(first)]
        return cls(first, count, calls.global_tid[first], calls.span_start_ns[first], calls.span_end_ns[first])

    def holding(self, launches: RuntimeCalls, launch_rows: Int64Array) -> Int64Array:
        """The stretch in which each launch begins, of several the last begun; ``NO_SPAN`` for none."""
        found = np.full(len(launch_rows), NO_SPAN)
        called = np.flatnonzero(launch_rows != NO_CALL)
        if not len(self.first) or not len(called):
            return found
        tids, starts_ns = launches.global_tid[launch_rows[called]], launches.start_ns[launch_rows[called]]
        threads, thread_of = coded(np.concatenate([self.global_tid, tids]))
        bounds = np.searchsorted(thread_of[: len(self.first)], np.arange(len(threads) + 1))
        for thread in range(len(threads)):
            begin, end = int(bounds[thread]), int(bounds[thread + 1])
            asked = np.flatnonzero(thread_of[len(self.first) :] == thread)
            place = begin + np.searchsorted(self.start_ns[begin:end], starts_ns[asked], side="right") - 1
            inside = (place >= begin) & (starts_ns[asked] < self.end_ns[np.maximum(place, 0)])
            found[called[asked]] = np.where(inside, place, NO_SPAN)
        return found
