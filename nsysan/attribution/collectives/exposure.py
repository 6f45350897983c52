"""How much of each operation nothing hid, and what of it ran beside computing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.partition import Activity, Part, part_of
from nsysan.timeline.intervals import Intervals, intersection, union
from nsysan.timeline.occupancy import STATE_COUNT, Occupancy

_EXPOSED: BoolArray = np.array(
    [part_of(Activity(state)) is Part.EXPOSED_COMMUNICATION for state in range(STATE_COUNT)], np.bool_
)
_COMPUTES: BoolArray = np.array(
    [bool(Activity(state) & (Activity.COMPUTE | Activity.FUSED)) for state in range(STATE_COUNT)], np.bool_
)


class Exposure(msgspec.Struct, frozen=True):
    """By member, on its report's clock: when communication is exposed and when it computes; a member may have none."""

    exposed: Mapping[int, Intervals]
    computing: Mapping[int, Intervals]

    @classmethod
    def of(cls, occupancies: Mapping[int, Occupancy]) -> Exposure:
        """The exposure of the members with these occupancies."""
        return cls(
            {member: exposed_in(occupancy) for member, occupancy in occupancies.items()},
            {member: computing_in(occupancy) for member, occupancy in occupancies.items()},
        )

    def exposed_ns(self, member: int, start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
        """How much of each stretch is exposed."""
        return _overlaps(self.exposed.get(member), start_ns, end_ns)

    def computing_ns(self, member: int, start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
        """How much of each stretch computes."""
        return _overlaps(self.computing.get(member), start_ns, end_ns)

    def exposed_union_ns(self, member: int, start_ns: Int64Array, end_ns: Int64Array) -> int:
        """How much time the stretches are exposed in; what several share counts once."""
        exposed = self.exposed.get(member)
        return 0 if exposed is None else exposed.overlap_ns(union(start_ns, end_ns))

    def exposed_where(self, member: int, start_ns: Int64Array, end_ns: Int64Array) -> Intervals:
        """When the member's communication is exposed inside any of the stretches."""
        exposed = self.exposed.get(member)
        return union(start_ns[:0], end_ns[:0]) if exposed is None else intersection(exposed, union(start_ns, end_ns))


def exposed_in(occupancy: Occupancy) -> Intervals:
    """When communication is exposed."""
    return _where(occupancy, _EXPOSED)


def computing_in(occupancy: Occupancy) -> Intervals:
    """When anything computes."""
    return _where(occupancy, _COMPUTES)


def _where(occupancy: Occupancy, states: BoolArray) -> Intervals:
    rows = np.flatnonzero(states[occupancy.states])
    return Intervals(occupancy.bounds_ns[rows], occupancy.bounds_ns[rows + 1])


def _overlaps(where: Intervals | None, start_ns: Int64Array, end_ns: Int64Array) -> Int64Array:
    if where is None:
        return np.zeros(len(start_ns), np.int64)
    return where.within(start_ns, end_ns)
