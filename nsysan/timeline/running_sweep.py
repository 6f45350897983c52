"""What runs from moment to moment, of activities that are known piece by piece of time.

At any moment what runs is known by when the last activity of each kind ends. So a piece is swept by one loop over its
activities, which numba compiles, or by ``occupancy.sweep`` with what still runs as activities from where it begins.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.partition import Activity
from nsysan.timeline.compiled import compiled
from nsysan.timeline.gap_sizes import SIZE_BOUNDS_NS, SizedGaps
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.occupancy import STATE_COUNT, KindArray, StateTimes, sweep

_KINDS = np.array([int(kind) for kind in Activity], np.uint8)
_SIZE_BOUNDS_NS = np.array(SIZE_BOUNDS_NS)


class RunningSweep:
    """Sweeps activities from ``first_ns`` on, as machine code or by whole columns."""

    def __init__(self, first_ns: int, *, as_machine_code: bool) -> None:
        self._swept_ns = first_ns
        self._as_machine_code = as_machine_code
        self._state_times_ns = np.zeros(STATE_COUNT, np.int64)
        self._running_until_ns = np.full(STATE_COUNT, first_ns)
        """By ``Activity`` bit."""

    @property
    def swept_ns(self) -> int:
        """Until when everything was swept."""
        return self._swept_ns

    @property
    def state_times(self) -> StateTimes:
        """How long each state held so far."""
        return StateTimes(self._state_times_ns)

    def advance(
        self, start_ns: Int64Array, end_ns: Int64Array, kinds: KindArray, until_ns: int, above_ns: int
    ) -> SizedGaps:
        """The gaps up to ``until_ns``, at which the last of the activities begins at the latest.

        The activities are in order of start and begin no earlier than what was swept. Gaps longer than ``above_ns`` are
        large.
        """
        by = self._by_loop if self._as_machine_code else self._by_columns
        found = by(start_ns, end_ns, kinds, until_ns, above_ns)
        self._swept_ns = until_ns
        return found

    def _by_loop(
        self, start_ns: Int64Array, end_ns: Int64Array, kinds: KindArray, until_ns: int, above_ns: int
    ) -> SizedGaps:
        counts, totals_ns = np.zeros((2, len(SIZE_BOUNDS_NS)), np.int64)
        gaps = np.empty((3, len(start_ns) + 1), np.int64)
        found = compiled(_sweep)(
            start_ns,
            end_ns,
            kinds,
            np.array([self._swept_ns, until_ns, above_ns]),
            self._running_until_ns,
            self._state_times_ns,
            _SIZE_BOUNDS_NS,
            counts,
            totals_ns,
            gaps,
        )
        large_start_ns, large_end_ns, places = gaps[:, :found].copy()
        return SizedGaps(counts, totals_ns, Intervals(large_start_ns, large_end_ns), places)

    def _by_columns(
        self, start_ns: Int64Array, end_ns: Int64Array, kinds: KindArray, until_ns: int, above_ns: int
    ) -> SizedGaps:
        since = np.full(len(_KINDS), self._swept_ns)
        occupancy = sweep(
            np.concatenate([since, start_ns]),
            np.concatenate([self._running_until_ns[_KINDS], end_ns]),
            np.concatenate([_KINDS, kinds]),
            (self._swept_ns, until_ns),
        )
        self._state_times_ns += occupancy.state_times.times_ns
        going_on = np.flatnonzero(end_ns > until_ns)
        np.maximum.at(self._running_until_ns, kinds[going_on], end_ns[going_on])
        return SizedGaps.of(occupancy.idle(), above_ns)


def _sweep(  # noqa: PLR0913, PLR0917 -- what goes in, and room for what comes out: numba makes no lists
    starts: Sequence[int],
    ends: Sequence[int],
    kinds: Sequence[int],
    span: Sequence[int],
    running: MutableSequence[int],
    state_times: MutableSequence[int],
    size_bounds: Sequence[int],
    gap_counts: MutableSequence[int],
    gap_totals: MutableSequence[int],
    large_gaps: Sequence[MutableSequence[int]],
) -> int:
    """Sweep from ``span[0]`` to ``span[1]``; how many gaps longer than ``span[2]`` were written.

    ``running`` has by kind when its last activity ends. Of large gaps begin, end, and place among all are written.
    """
    now = span[0]
    gap_count = large_count = 0
    for row in range(len(starts) + 1):
        is_over = row == len(starts)
        if not is_over and ends[row] <= starts[row]:
            # what takes no time fills nothing, and ends no gap
            continue
        moment = span[1] if is_over else starts[row]
        while now < moment:
            state, change, kind = 0, moment, 1
            while kind < len(running):
                if running[kind] > now:
                    state |= kind
                    change = min(change, running[kind])
                kind *= 2
            state_times[state] += change - now
            if state == 0:
                size = len(size_bounds) - 1
                while change - now < size_bounds[size]:
                    size -= 1
                gap_counts[size] += 1
                gap_totals[size] += change - now
                if change - now > span[2]:
                    large_gaps[0][large_count] = now
                    large_gaps[1][large_count] = change
                    large_gaps[2][large_count] = gap_count
                    large_count += 1
                gap_count += 1
            now = change
        if not is_over:
            running[kinds[row]] = max(running[kinds[row]], ends[row])
    return large_count
