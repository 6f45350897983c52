"""Nested rows by the path of kinds that leads to each: one walk, as machine code."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.model.arrays import IdArray
from nsysan.timeline.compiled import compiled


def numbered_paths(parents: IdArray, kinds: IdArray) -> tuple[IdArray, IdArray, IdArray]:
    """The path of each row, and the path before each path (``NOBODY``) and its last kind.

    A row's parent stands before it, ``NOBODY`` (-1) at the top.
    """
    count = len(parents)
    path_of, before, last = (np.empty(count, np.int32) for _ in range(3))
    columns = (column.astype(np.int32, copy=False) for column in (parents, kinds))
    found = compiled(_number)(*columns, path_of, before, last)
    return path_of, before[:found], last[:found]


def _number(
    parents: Sequence[int],
    kinds: Sequence[int],
    path_of: MutableSequence[int],
    before: MutableSequence[int],
    last: MutableSequence[int],
) -> int:
    """How many paths there are; they are found again by where they are filed, or in the next place that was free."""
    spread, found, mask = 40_503, 0, (1 << 10) - 1
    filed = np.full(mask + 1, -1)
    for row in range(len(parents)):
        above = -1 if parents[row] < 0 else path_of[parents[row]]
        place = (above * spread + kinds[row]) & mask
        while filed[place] >= 0 and (before[filed[place]] != above or last[filed[place]] != kinds[row]):
            place = (place + 1) & mask
        if filed[place] < 0:
            filed[place] = found
            before[found], last[found] = above, kinds[row]
            found += 1
        path_of[row] = filed[place]
        if 2 * found > mask:
            mask = 4 * mask + 3
            filed = np.full(mask + 1, -1)
            for path in range(found):
                place = (before[path] * spread + last[path]) & mask
                while filed[place] >= 0:
                    place = (place + 1) & mask
                filed[place] = path
    return found
