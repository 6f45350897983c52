"""When what runs changes: one loop over activities in order of start, which numba compiles."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.timeline.compiled import compiled


def state_changes(
    start_ns: Int64Array, end_ns: Int64Array, bits: np.ndarray, window_ns: tuple[int, int], state_count: int
) -> tuple[Int64Array, np.ndarray]:
    """The moments of the window at which what runs changes, the window's end as the last, and what runs from each on.

    Each activity has one bit; what runs is a set of bits, a number below ``state_count``.
    """
    # an activity makes two changes at most, its begin and its end
    bounds_ns, states = np.empty(2 * len(start_ns) + 2, np.int64), np.empty(2 * len(start_ns) + 1, np.uint8)
    running_until_ns = np.full(state_count, window_ns[0])
    count = compiled(_changes)(start_ns, end_ns, bits, np.array(window_ns), running_until_ns, bounds_ns, states)
    # in place: what is beyond was never touched
    bounds_ns.resize(count + 1, refcheck=False)
    states.resize(count, refcheck=False)
    return bounds_ns, states


def _changes(  # noqa: PLR0913, PLR0917 -- what goes in, and room for what comes out: numba makes no lists
    starts: Sequence[int],
    ends: Sequence[int],
    bits: Sequence[int],
    window: Sequence[int],
    running: MutableSequence[int],
    bounds: MutableSequence[int],
    states: MutableSequence[int],
) -> int:
    """How many states were written; the window's end is written behind their bounds."""
    count = 0
    now = window[0]
    for row in range(len(starts) + 1):
        moment = window[1] if row == len(starts) else min(starts[row], window[1])
        while now < moment:
            state, change, bit = 0, moment, 1
            while bit < len(running):
                if running[bit] > now:
                    state |= bit
                    change = min(change, running[bit])
                bit *= 2
            if count == 0 or states[count - 1] != state:
                bounds[count] = now
                states[count] = state
                count += 1
            now = change
        # what takes no time fills nothing
        if row < len(starts) and ends[row] > starts[row]:
            running[bits[row]] = max(running[bits[row]], ends[row])
    bounds[count] = window[1]
    return count
