"""The sums over a GPU's or device's work, of which every piece is known only once and for a while.

Pieces follow each other in time. At any moment what runs is known by when the last activity of each kind ends; so the
partition of a piece takes these as activities that run from where the piece before ended.
"""

from __future__ import annotations

import numpy as np

from nsysan.attribution.activities import Activities, solid_ones
from nsysan.attribution.gap_sums import GapFold, NameOf
from nsysan.attribution.work_sums import WorkSums
from nsysan.model.arrays import Int64Array
from nsysan.model.partition import Activity
from nsysan.timeline.occupancy import STATE_COUNT, Occupancy, StateTimes, sweep

_KINDS = np.array([int(kind) for kind in Activity], np.uint8)
_NOTHING = np.empty(0, np.int64)


class SumsFold:
    """The sums over the window from the first activity to the last end, of activities given in their order."""

    def __init__(self, first_ns: int) -> None:
        self._first_ns = first_ns
        self._swept_ns = first_ns
        self._last_ns = first_ns
        self._running_until_ns: Int64Array = np.full(len(_KINDS), first_ns)
        self._state_times_ns = np.zeros(STATE_COUNT, np.int64)
        self._gaps = GapFold(first_ns)
        self._work_ns = 0
        self._count = 0

    def add(self, activities: Activities, name_of: NameOf) -> None:
        """The next activities: none of them begins before one that was added before."""
        solid = solid_ones(activities)
        # up to the last begin all that runs is known, and no gap goes on beyond it
        known_ns = int(solid.start_ns[-1]) if len(solid) else self._swept_ns
        gaps = self._sweep(solid, known_ns).idle()
        self._gaps.add(gaps, activities, None, name_of)
        self._last_ns = max(self._last_ns, int(activities.end_ns.max()))
        self._work_ns += int((activities.end_ns - activities.start_ns).sum())
        self._count += len(activities)

    def sums(self) -> WorkSums:
        """The sums of all that was added."""
        nothing = Activities(_NOTHING, _NOTHING, _NOTHING.astype(np.uint8), _NOTHING, _NOTHING, _NOTHING)
        self._gaps.add(self._sweep(nothing, self._last_ns).idle(), nothing, self._last_ns, _no_name)
        window_ns = (self._first_ns, self._last_ns)
        return WorkSums(window_ns, StateTimes(self._state_times_ns), self._gaps.sums(), self._work_ns, self._count)

    def _sweep(self, activities: Activities, until_ns: int) -> Occupancy:
        since = np.full(len(_KINDS), self._swept_ns)
        occupancy = sweep(
            np.concatenate([since, activities.start_ns]),
            np.concatenate([self._running_until_ns, activities.end_ns]),
            np.concatenate([_KINDS, activities.kind]),
            (self._swept_ns, until_ns),
        )
        self._state_times_ns += occupancy.state_times.times_ns
        going_on = np.flatnonzero(activities.end_ns > until_ns)
        places = np.searchsorted(_KINDS, activities.kind[going_on])
        np.maximum.at(self._running_until_ns, places, activities.end_ns[going_on])
        self._swept_ns = until_ns
        return occupancy


def _no_name(_activities: Activities, _place: int) -> str:
    raise LookupError("no activity is left")
