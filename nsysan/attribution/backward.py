"""Which kernels the backward pass launched, by ranges that say so, or by the thread on which autograd runs it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.kernel_class import classify
from nsysan.model.distinct import coded
from nsysan.model.kernels import KernelClass
from nsysan.model.tables import BoolArray, Int64Array
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.intervals import union

BACKWARD_RANGE = re.compile(r"backward", re.IGNORECASE)
_BOTH = re.compile(r"forward", re.IGNORECASE)
"""Ranges such as ``forward-backward`` hold both passes."""
BACKWARD_KERNEL = re.compile(r"backward|bwd|dgrad|wgrad|_grad_", re.IGNORECASE)


class BackwardSource(str, Enum):
    """What tells the backward pass."""

    RANGES = "ranges"
    THREAD = "thread"


@dataclass(frozen=True, slots=True, eq=False)
class Backward:
    """Which of the asked kernels the backward pass launched."""

    source: BackwardSource
    launched: BoolArray


def backward_of(host: Host, global_pid: int, calls: Int64Array, name_ids: Int64Array) -> Backward | None:
    """The kernels (by the row of their call, and their name) of the backward pass; None where nothing tells it."""
    inside = _in_ranges(host, global_pid, host.calls.start_ns[calls])
    if inside is not None and inside.any() and not inside.all():
        return Backward(BackwardSource.RANGES, inside)
    threads = host.calls.global_tid[calls]
    of_autograd = np.isin(threads, _autograd_threads(host, threads, name_ids))
    return Backward(BackwardSource.THREAD, of_autograd) if of_autograd.any() and not of_autograd.all() else None


def _in_ranges(host: Host, global_pid: int, times_ns: Int64Array) -> BoolArray | None:
    """Whether a range of the process that is named so holds at each moment, on any thread; None without such ranges.

    The thread that opens the range waits for autograd, which launches on a thread of its own.
    """
    if not len(host.ranges):
        return None
    groups = host.range_groups
    named = [BACKWARD_RANGE.search(name) is not None and _BOTH.search(name) is None for name in groups.names]
    of_process = (host.ranges.global_tid & PROCESS_BITS) == global_pid
    rows = np.flatnonzero(np.array(named, np.bool_)[groups.of_row] & of_process)
    held = union(host.ranges.start_ns[rows], host.range_ends_ns[rows])
    if not len(held):
        return None
    place = np.searchsorted(held.start_ns, times_ns, side="right") - 1
    inside: BoolArray = (place >= 0) & (times_ns < held.end_ns[np.maximum(place, 0)])
    return inside


def _autograd_threads(host: Host, threads: Int64Array, name_ids: Int64Array) -> Int64Array:
    """The threads that launch kernels named after a backward pass, and none of an optimizer."""
    ids, id_of = coded(name_ids)
    names = [host.trace.text(name_id) for name_id in ids.tolist()]
    backward = np.array([BACKWARD_KERNEL.search(name) is not None for name in names], np.bool_)[id_of]
    optimizer = np.array([classify(name).kernel_class is KernelClass.OPTIMIZER for name in names], np.bool_)[id_of]
    return np.setdiff1d(threads[backward], threads[optimizer])
