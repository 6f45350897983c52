"""The place of many values among ascending ones, found quickly where the values ascend too, or nearly do."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.timeline.compiled import compiled, is_worth_compiling


def search(among: Int64Array, values: Int64Array, side: Literal["left", "right"] = "left") -> Int64Array:
    """The same as ``np.searchsorted(among, values, side)``."""
    if not is_worth_compiling(len(values)):
        return np.searchsorted(among, values, side=side)
    places = np.empty(len(values), np.int64)
    # of whole numbers those up to one are those before the next
    compiled(_gallop)(among, values, int(side == "right"), places)
    return places


def _gallop(among: Int64Array, values: Int64Array, later: int, places: Int64Array) -> None:
    """Write how many lie before each value + ``later``, looking first near the place of the value before it."""
    place = 0
    for row in range(len(values)):
        value, step, low = values[row] + later, 1, place
        while low > 0 and among[low - 1] >= value:
            low -= step
            step *= 2
        low, step, high = max(low, 0), 1, place
        while high < len(among) and among[high] < value:
            high += step
            step *= 2
        high = min(high, len(among))
        while low < high:
            middle = (low + high) // 2
            if among[middle] < value:
                low = middle + 1
            else:
                high = middle
        place = low
        places[row] = place
