"""The gaps of a GPU's window summed: by size, and the largest of them with what ran beside each."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities, solid_ones
from nsysan.model.arrays import Int64Array
from nsysan.timeline.gap_sizes import SIZE_BOUNDS_NS, SizedGaps
from nsysan.timeline.ordering import foremost

NameOf = Callable[[Activities, int], str]
"""What the activity at a place is called."""

GAPS_KEPT = 20


class LargeGap(msgspec.Struct, frozen=True):
    """One gap: its place among all of the window, and how many activities began before it.

    ``before`` ended as the gap began and ``after`` ended it: what ran there, null at the window's edges.
    """

    place: int
    start_ns: int
    end_ns: int
    before: str | None
    after: str | None
    begun_before_count: int

    @property
    def duration_ns(self) -> int:
        """How long it is."""
        return self.end_ns - self.start_ns


class GapSums(msgspec.Struct, frozen=True, eq=False):
    """The ``GAPS_KEPT`` largest gaps, the largest first, of equal ones the earliest; count and total by size."""

    largest: tuple[LargeGap, ...]
    counts: Int64Array
    totals_ns: Int64Array

    @property
    def count(self) -> int:
        """How many gaps there are."""
        return int(self.counts.sum())

    @property
    def longest_ns(self) -> int:
        """The longest of them, 0 where there are none."""
        return self.largest[0].duration_ns if self.largest else 0


class _Piece(msgspec.Struct, frozen=True, eq=False):
    """What stands at the edges of a piece's gaps: activities that take time, and when each one begins."""

    solid: Activities
    begins_ns: Int64Array
    window_end_ns: int | None
    name_of: NameOf

    def name(self, place: int) -> str:
        return self.name_of(self.solid, place)


class GapFold:
    """Sums up gaps piece by piece of time; each piece is told with the activities that begin in it, in their order."""

    def __init__(self, window_start_ns: int) -> None:
        self._window_start_ns = window_start_ns
        self._largest: list[LargeGap] = []
        self._counts = np.zeros(len(SIZE_BOUNDS_NS), np.int64)
        self._totals_ns = np.zeros(len(SIZE_BOUNDS_NS), np.int64)
        self._begun_count = 0
        self._begun_late_ns = np.empty(0, np.int64)
        self._last_end_ns = np.iinfo(np.int64).min
        self._last_name: str | None = None

    @property
    def above_ns(self) -> int:
        """How long a gap is at most that is none of the largest so far: of equal ones the earliest counts."""
        return self._largest[-1].duration_ns if len(self._largest) == GAPS_KEPT else 0

    def add(self, gaps: SizedGaps, activities: Activities, window_end_ns: int | None, name_of: NameOf) -> None:
        """The gaps of a piece, large above ``above_ns``.

        ``window_end_ns`` is known with the last one at the latest, and no gap goes beyond.
        """
        solid = solid_ones(activities)
        begins_ns = activities.start_ns
        if len(self._begun_late_ns):
            begins_ns = np.concatenate([self._begun_late_ns, begins_ns])
        if len(gaps.large_places):
            found = self._told(gaps, _Piece(solid, begins_ns, window_end_ns, name_of))
            self._largest = sorted([*self._largest, *found], key=lambda gap: (-gap.duration_ns, gap.place))[:GAPS_KEPT]
        self._counts += gaps.counts
        self._totals_ns += gaps.totals_ns
        # gaps of later pieces may begin before those of no length that begin after the last solid one
        settled = int(np.searchsorted(begins_ns, solid.start_ns[-1])) if len(solid) else 0
        self._begun_count, self._begun_late_ns = self._begun_count + settled, begins_ns[settled:]
        self._keep_last(solid, name_of)

    def sums(self) -> GapSums:
        """What was added so far."""
        return GapSums(tuple(self._largest), self._counts, self._totals_ns)

    def _told(self, gaps: SizedGaps, piece: _Piece) -> list[LargeGap]:
        # latest end so far, and who holds it: what ran last before a gap
        ends_ns = np.maximum(np.maximum.accumulate(piece.solid.end_ns), self._last_end_ns)
        found, earlier_count = [], int(self._counts.sum())
        for large in foremost(GAPS_KEPT, -gaps.large.durations_ns).tolist():
            start_ns, end_ns = int(gaps.large.start_ns[large]), int(gaps.large.end_ns[large])
            if start_ns == self._window_start_ns:
                before = None
            elif self._last_end_ns >= start_ns:
                before = self._last_name
            else:
                before = piece.name(int(np.searchsorted(ends_ns, start_ns)))
            is_last = end_ns == piece.window_end_ns
            after = None if is_last else piece.name(int(np.searchsorted(piece.solid.start_ns, end_ns)))
            begun_count = self._begun_count + int(np.searchsorted(piece.begins_ns, start_ns))
            place = earlier_count + int(gaps.large_places[large])
            found.append(LargeGap(place, start_ns, end_ns, before, after, begun_count))
        return found

    def _keep_last(self, solid: Activities, name_of: NameOf) -> None:
        """Who holds the latest end so far; of equal ones the first."""
        if len(solid):
            last = int(solid.end_ns.argmax())
            if solid.end_ns[last] > self._last_end_ns:
                self._last_end_ns, self._last_name = int(solid.end_ns[last]), name_of(solid, last)
