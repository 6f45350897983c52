"""The sums over a GPU's or device's work, of which every piece is known only once and for a while."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.activities import Activities, solid_ones
from nsysan.attribution.gap_sums import GapFold, NameOf
from nsysan.attribution.work_sums import WorkSums
from nsysan.timeline.gap_sizes import SizedGaps
from nsysan.timeline.running_sweep import RunningSweep

_NOTHING = np.empty(0, np.int64)


class SumsFold:
    """The sums over the window from the first activity to the last end, of activities given in their order."""

    def __init__(self, first_ns: int, *, as_machine_code: bool) -> None:
        self._first_ns = first_ns
        self._last_ns = first_ns
        self._running = RunningSweep(first_ns, as_machine_code=as_machine_code)
        self._gaps = GapFold(first_ns)
        self._work_ns = 0
        self._count = 0

    def add(self, activities: Activities, name_of: NameOf) -> None:
        """The next activities: none of them begins before one that was added before."""
        solid = solid_ones(activities)
        # up to the last begin all that runs is known, and no gap goes on beyond it
        known_ns = int(solid.start_ns[-1]) if len(solid) else self._running.swept_ns
        self._gaps.add(self._swept(solid, known_ns), activities, None, name_of)
        self._last_ns = max(self._last_ns, int(activities.end_ns.max()))
        self._work_ns += int((activities.end_ns - activities.start_ns).sum())
        self._count += len(activities)

    def sums(self) -> WorkSums:
        """The sums of all that was added."""
        nothing = Activities(_NOTHING, _NOTHING, _NOTHING.astype(np.uint8), _NOTHING, _NOTHING, _NOTHING)
        self._gaps.add(self._swept(nothing, self._last_ns), nothing, self._last_ns, _no_name)
        window_ns = (self._first_ns, self._last_ns)
        return WorkSums(window_ns, self._running.state_times, self._gaps.sums(), self._work_ns, self._count)

    def _swept(self, activities: Activities, until_ns: int) -> SizedGaps:
        start_ns, end_ns, kinds = activities.start_ns, activities.end_ns, activities.kind
        return self._running.advance(start_ns, end_ns, kinds, until_ns, self._gaps.above_ns)


def _no_name(_activities: Activities, _place: int) -> str:
    raise LookupError("no activity is left")
