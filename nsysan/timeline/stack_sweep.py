"""Which of many intervals is innermost at each moment, however they overlap: one sweep with a stack."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.timeline.compiled import compiled, is_worth_compiling

NOBODY = -1
"""The row where there is none."""


def sweep_stack(start_ns: Int64Array, end_ns: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Moments at which the innermost interval changes, its row from each on, and the row around each interval.

    The intervals are not empty and in order of start, of equal starts the longest first. Moments may repeat: of equal
    ones the last counts.
    """
    count = len(start_ns)
    if is_worth_compiling(count):
        times_ns, rows, parents = (np.empty(size, np.int64) for size in (2 * count, 2 * count, count))
        found = compiled(_sweep)(start_ns, end_ns, times_ns, rows, parents, np.empty(count, np.int64))
        return times_ns[:found], rows[:found], parents
    lists: list[list[int]] = [[0] * size for size in (2 * count, 2 * count, count, count)]
    found = _sweep(start_ns.tolist(), end_ns.tolist(), *lists)
    return np.array(lists[0][:found], np.int64), np.array(lists[1][:found], np.int64), np.array(lists[2], np.int64)


def _sweep(  # noqa: PLR0913, PLR0917 -- two inputs and room for what comes out: numba makes no lists
    starts: Sequence[int],
    ends: Sequence[int],
    times: MutableSequence[int],
    rows: MutableSequence[int],
    parents: MutableSequence[int],
    stack: MutableSequence[int],
) -> int:
    """How many moments were written; an interval ends at most once and begins once."""
    found = depth = 0
    count = len(starts)
    for row in range(count + 1):
        # after the last interval all that are open end
        while depth and (row == count or ends[stack[depth - 1]] <= starts[row]):
            depth -= 1
            ended = ends[stack[depth]]
            while depth and ends[stack[depth - 1]] <= ended:
                depth -= 1
            times[found] = ended
            rows[found] = stack[depth - 1] if depth else NOBODY
            found += 1
        if row < count:
            parents[row] = stack[depth - 1] if depth else NOBODY
            stack[depth] = row
            depth += 1
            times[found] = starts[row]
            rows[found] = row
            found += 1
    return found
