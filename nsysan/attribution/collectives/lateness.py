"""Who came last to each instance, and how late: the wait of all others is charged to it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nsysan.attribution.collectives.charging import last_to_come
from nsysan.attribution.collectives.exchanges import is_among_all
from nsysan.attribution.collectives.kinds import SEND_RECV, Meeting
from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.collectives.operations import Operations
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.tables import Table

TWO = 2


class Arrivals(Table, frozen=True):
    """A row for each instance and member that came last to it.

    ``late_ns`` is how long after the others the last ones came, ``caused_ns`` what this one is charged with: the waits
    of all others, in equal parts where several came within 20 us of each other. ``series`` is a place in the job's,
    ``instance`` one in that series among those to which any was late.
    """

    member: Int64Array
    series: Int64Array
    instance: Int64Array
    late_ns: Int64Array
    caused_ns: Int64Array


def late_arrivals(measured: Iterable[Measured], operations: Operations) -> tuple[Arrivals, dict[int, int]]:
    """The late arrivals, and of how many instances with one each member was part.

    Of symmetric instances of all ranks of a communicator: whoever waits least came last, whatever clocks say. Where all
    came within 20 us nobody was late. Messages between two stages of a pipeline are left out: they follow each other.
    """
    pieces: list[Arrivals] = []
    seen: dict[int, int] = {}
    for place, one in enumerate(measured):
        if one.waits is None or not _shows_lateness(one, operations):
            continue
        wait_ns = one.waits.wait_ns
        is_last, is_late = last_to_come(wait_ns)
        for member in one.series.members:
            seen[member] = seen.get(member, 0) + int(is_late.sum())
        pieces.append(_of_series(place, np.array(one.series.members), wait_ns[is_late], is_last[is_late]))
    return Arrivals.concatenate(pieces), seen


def _shows_lateness(one: Measured, operations: Operations) -> bool:
    series = one.series
    if series.meeting is not Meeting.SYMMETRIC or len(series.members) < TWO:
        return False
    return series.kind != SEND_RECV or is_among_all(series, operations)


def _of_series(place: int, members: Int64Array, wait_ns: Int64Array, is_last: BoolArray) -> Arrivals:
    instance, column = np.nonzero(is_last)
    late_ns = np.where(is_last, np.iinfo(np.int64).max, wait_ns).min(axis=1, initial=np.iinfo(np.int64).max)
    caused_ns = np.where(is_last, 0, wait_ns).sum(axis=1) // np.maximum(is_last.sum(axis=1), 1)
    return Arrivals(members[column], np.full(len(column), place), instance, late_ns[instance], caused_ns[instance])
