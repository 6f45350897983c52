"""Where ordered moments lie among other ordered ones: both are walked once where they are many."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.timeline.compiled import compiled, is_loaded, is_worth_compiling


def places_in(ordered_ns: Int64Array, moments_ns: Int64Array, *, after_equal: bool = False) -> Int64Array:
    """How many of the ordered times lie before each moment, or not after it; the moments ascend as well.

    The same as ``np.searchsorted``.
    """
    # numpy's search would be done before numba is loaded
    if not (is_loaded() and is_worth_compiling(len(ordered_ns) + len(moments_ns))):
        return np.searchsorted(ordered_ns, moments_ns, side="right" if after_equal else "left")
    places = np.empty(len(moments_ns), np.int64)
    compiled(_walk)(np.ascontiguousarray(ordered_ns), np.ascontiguousarray(moments_ns), int(after_equal), places)
    return places


def _walk(ordered: Sequence[int], moments: Sequence[int], extent: int, places: MutableSequence[int]) -> None:
    """A time lies before a moment where it is less than that and the extent: 1 to take those that are equal."""
    place, count = 0, len(ordered)
    for row in range(len(moments)):
        until = moments[row] + extent
        while place < count and ordered[place] < until:
            place += 1
        places[row] = place
