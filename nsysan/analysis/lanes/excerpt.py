"""The stretches of a GPU's window that the timeline shows to the single activity: around the places worth a look."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.model.arrays import Int64Array
from nsysan.timeline.intervals import Intervals, union

NEIGHBOUR_COUNT = 24
"""Activities shown before a place and after it."""


class Excerpt(msgspec.Struct, frozen=True, eq=False):
    """Stretches of a window, and every activity that runs in them, in order of begin."""

    spans: Intervals
    activities: Activities


def excerpt_around(
    activities: Activities, window_ns: tuple[int, int], places_ns: Iterable[tuple[int, int]], limit: int
) -> Excerpt:
    """At most ``limit`` activities: the whole window where it has no more, else the places in order while they fit.

    Activities of no length fill nothing and are left out.
    """
    first_ns, last_ns = window_ns
    shown = (activities.end_ns > activities.start_ns) & (activities.end_ns > first_ns) & (activities.start_ns < last_ns)
    inside = activities if shown.all() else activities.take(shown)
    if len(inside) <= limit:
        return Excerpt(Intervals(np.array([first_ns]), np.array([last_ns])), inside)
    search = _Search(inside, window_ns)
    spans = [span for place in places_ns if (span := search.add(place, limit)) is not None]
    starts_ns, ends_ns = (np.array(column, dtype=np.int64) for column in zip(*spans, strict=True)) if spans else _NONE
    return Excerpt(union(starts_ns, ends_ns), inside.take(search.chosen))


_NONE = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


class _Search:
    """Which activities are in the excerpt so far."""

    def __init__(self, activities: Activities, window_ns: tuple[int, int]) -> None:
        self._starts_ns, self._ends_ns = activities.start_ns, activities.end_ns
        self._ends_so_far_ns = np.maximum.accumulate(activities.end_ns)
        self._window_ns = window_ns
        self.chosen = np.zeros(len(activities), dtype=np.bool_)

    def add(self, place_ns: tuple[int, int], limit: int) -> tuple[int, int] | None:
        """The stretch around the place, whose activities are chosen now; None where they would be too many."""
        start_ns, end_ns = self._stretch(place_ns)
        running = self._running(start_ns, end_ns)
        new_count = int((~self.chosen[running]).sum())
        if start_ns >= end_ns or int(self.chosen.sum()) + new_count > limit:
            return None
        self.chosen[running] = True
        return start_ns, end_ns

    def _stretch(self, place_ns: tuple[int, int]) -> tuple[int, int]:
        first, last = np.searchsorted(self._starts_ns, place_ns).tolist()
        from_ns = self._starts_ns[max(first - NEIGHBOUR_COUNT, 0)]
        beyond = last + NEIGHBOUR_COUNT
        to_ns = self._starts_ns[beyond] if beyond < len(self._starts_ns) else self._window_ns[1]
        return max(int(from_ns), self._window_ns[0]), min(int(to_ns), self._window_ns[1])

    def _running(self, start_ns: int, end_ns: int) -> Int64Array:
        """The activities that run in a stretch; those before the first could not reach into it."""
        first = int(np.searchsorted(self._ends_so_far_ns, start_ns, side="right"))
        last = int(np.searchsorted(self._starts_ns, end_ns))
        return first + np.flatnonzero(self._ends_ns[first:last] > start_ns)
