"""Which kinds of activity run at every moment of a window, as one step function of time.

Everything nsysan says about a GPU's time is read off this function, so no two figures can disagree.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.distinct import summed
from nsysan.model.partition import Activity, Part, PartTimes, part_of
from nsysan.timeline.compiled import is_worth_compiling
from nsysan.timeline.intervals import Intervals, union
from nsysan.timeline.ordering import is_ascending
from nsysan.timeline.state_changes import state_changes

KindArray = npt.NDArray[np.uint8]
"""``Activity`` bits, one value per interval."""

NOTHING = Activity(0)
STATE_COUNT = 1 << len(Activity)
_PARTS = tuple(Part)
PART_OF_STATE = np.array([_PARTS.index(part_of(Activity(state))) for state in range(STATE_COUNT)], np.int8)
"""The part that each state belongs to, as its place in ``Part``."""


class StateTimes(msgspec.Struct, frozen=True, eq=False):
    """Time per state, indexed by its bits: 32 values that add up to the window."""

    times_ns: Int64Array

    @property
    def window_ns(self) -> int:
        """The length of the window."""
        return int(self.times_ns.sum())

    def part_times(self) -> PartTimes:
        """Time per part of the partition; the parts add up to the window."""
        return PartTimes(*summed(self.times_ns, PART_OF_STATE, len(_PARTS)).tolist())

    def time_where(self, states: BoolArray) -> int:
        """The time spent in any of the ``states``, a mask of 32."""
        return int(self.times_ns[states].sum())


class Occupancy(msgspec.Struct, frozen=True, eq=False, dict=True):
    """``states[i]``, a set of ``Activity`` bits, holds on ``[bounds_ns[i], bounds_ns[i + 1])``; neighbours differ."""

    bounds_ns: Int64Array
    states: KindArray

    @property
    def window_ns(self) -> int:
        """The length of the window."""
        return int(self.bounds_ns[-1] - self.bounds_ns[0])

    @property
    def parts(self) -> IdArray:
        """The part that each interval belongs to, as its place in ``Part``; neighbours may be equal."""
        parts: IdArray = PART_OF_STATE[self.states]
        return parts

    @cached_property
    def state_times(self) -> StateTimes:
        """How long each state holds."""
        return StateTimes(summed(np.diff(self.bounds_ns), self.states, STATE_COUNT))

    def part_times(self) -> PartTimes:
        """Time per part of the partition; the parts add up to the window."""
        return self.state_times.part_times()

    def idle(self) -> Intervals:
        """The gaps: each maximal stretch in which nothing runs."""
        rows = np.flatnonzero(self.states == 0)
        return Intervals(self.bounds_ns[rows], self.bounds_ns[rows + 1])


def states_with(present: Activity, absent: Activity = NOTHING) -> BoolArray:
    """The mask of 32 states in which all of ``present`` and none of ``absent`` runs."""
    states = np.arange(STATE_COUNT)
    mask: BoolArray = ((states & present) == present) & ((states & absent) == 0)
    return mask


def sweep(start_ns: Int64Array, end_ns: Int64Array, kinds: KindArray, window_ns: tuple[int, int]) -> Occupancy:
    """The occupancy of the window by the activities, clipped at its edges. Every kind is one ``Activity`` bit."""
    if is_worth_compiling(len(start_ns)) and is_ascending(start_ns):
        return Occupancy(*state_changes(start_ns, end_ns, kinds, window_ns, STATE_COUNT))
    return _united(start_ns, end_ns, kinds, window_ns)


def _united(start_ns: Int64Array, end_ns: Int64Array, kinds: KindArray, window_ns: tuple[int, int]) -> Occupancy:
    """Each kind's intervals are united first, so that a boundary toggles one bit.

    The state after a moment is then the exclusive or of all boundaries up to it.
    """
    first_ns, last_ns = window_ns
    start_ns, end_ns = np.clip(start_ns, first_ns, last_ns), np.clip(end_ns, first_ns, last_ns)
    times_ns, toggles = [np.array([first_ns, last_ns])], [np.zeros(2, dtype=np.uint8)]
    for activity in Activity:
        of_kind = np.flatnonzero(kinds == activity)
        covered = union(start_ns[of_kind], end_ns[of_kind])
        # ends between begins: what is in order already is merged more quickly
        times_ns.append(np.stack((covered.start_ns, covered.end_ns), axis=1).ravel())
        toggles.append(np.full(2 * len(covered), activity, dtype=np.uint8))
    return _accumulate(np.concatenate(times_ns), np.concatenate(toggles))


def _accumulate(times_ns: Int64Array, toggles: KindArray) -> Occupancy:
    order = np.argsort(times_ns, kind="stable")
    times_ns, states = times_ns[order], np.bitwise_xor.accumulate(toggles[order])
    last_of_moment = np.append(np.diff(times_ns) > 0, np.True_)
    times_ns, states = times_ns[last_of_moment], states[last_of_moment]
    # the state after the window's end is empty and belongs to nothing; equal neighbours become one
    changes = np.concatenate(([True], states[1:-1] != states[:-2], [True])) if len(states) > 1 else np.array([True])
    return Occupancy(times_ns[changes], states[changes][:-1])
