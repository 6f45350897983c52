"""Who waited for whom: each wait is charged to the rank that it was for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.collectives.waiting import Waits
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.thresholds import TIE_NS


def charged_waits(measured: Iterable[Measured], member_count: int) -> Int64Array:
    """The ns that each member (rows) waited for each other (columns).

    In a symmetric instance, also between two, for those that came last, in equal parts where several did within 20 us;
    in a broadcast and scatter for the root, in a reduce and gather for the last. Where all came within 20 us nobody
    waited for anybody.
    """
    found = np.zeros((member_count, member_count), np.int64)
    for one in measured:
        if one.waits is not None:
            members = np.array(one.series.members)
            for column, waited_ns in _charged(one.waits):
                found[members, members[column]] += waited_ns
    return found


def last_to_come(wait_ns: Int64Array) -> tuple[BoolArray, BoolArray]:
    """Of symmetric instances: who came last, up to 20 us, by instance and rank; and to which anybody was late."""
    is_last: BoolArray = wait_ns <= wait_ns.min(axis=1, keepdims=True) + TIE_NS
    is_late: BoolArray = np.asarray(~is_last.all(axis=1))
    return is_last, is_late


def _charged(waits: Waits) -> Iterator[tuple[int, Int64Array]]:
    """Each column that was waited for, and how long each column did."""
    wait_ns = waits.wait_ns
    if waits.awaited is None:
        is_awaited, is_late = last_to_come(wait_ns)
        is_awaited &= is_late[:, None]
    else:
        is_awaited = waits.awaited[:, None] == np.arange(wait_ns.shape[1])
    shares_ns = np.where(is_awaited, 0, wait_ns) // np.maximum(is_awaited.sum(axis=1, keepdims=True), 1)
    for column in np.flatnonzero(is_awaited.any(axis=0)).tolist():
        yield column, shares_ns[is_awaited[:, column]].sum(axis=0)
