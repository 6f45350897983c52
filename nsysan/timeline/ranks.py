"""Values at given ranks, without ordering all of them."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.model.arrays import IdArray
from nsysan.timeline.compiled import compiled, is_loaded

_MANY = 1 << 16
_BIN_COUNT = 1 << 16


def at_ranks(values: IdArray, ranks: Sequence[int]) -> list[int]:
    """The values that stand at these places, counted from 0, of all in ascending order."""
    if len(values) >= _MANY and is_loaded():
        return _by_loops(values, ranks)
    placed = np.partition(values, sorted(set(ranks)))
    return [int(placed[rank]) for rank in ranks]


def _by_loops(values: IdArray, ranks: Sequence[int]) -> list[int]:
    """The same: values are counted by bin, and only bins with such a rank are looked into."""
    first, last = int(values.min()), int(values.max())
    shift = max((last - first).bit_length() - _BIN_COUNT.bit_length() + 1, 0)
    counts = np.zeros(_BIN_COUNT, np.int64)
    compiled(_count)(values, first, shift, counts)
    until = np.cumsum(counts)
    found, picked = [], {}
    for rank in ranks:
        chosen = int(np.searchsorted(until, rank, side="right"))
        if chosen not in picked:
            picked[chosen] = np.empty(counts[chosen], values.dtype)
            compiled(_pick)(values, first, shift, chosen, picked[chosen])
        place = rank - int(until[chosen] - counts[chosen])
        found.append(int(np.partition(picked[chosen], place)[place]))
    return found


def _count(values: Sequence[int], first: int, shift: int, counts: MutableSequence[int]) -> None:
    """Count the values by ``(value - first) >> shift``."""
    for row in range(len(values)):
        counts[(values[row] - first) >> shift] += 1


def _pick(values: Sequence[int], first: int, shift: int, chosen: int, picked: MutableSequence[int]) -> None:
    """Write the values for which that is ``chosen``."""
    found = 0
    for row in range(len(values)):
        if (values[row] - first) >> shift == chosen:
            picked[found] = values[row]
            found += 1
