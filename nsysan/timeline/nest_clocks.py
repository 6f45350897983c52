"""How far two clocks go in each of many nested intervals while it is the innermost one: one sweep, as machine code."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

import msgspec
import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.timeline.compiled import compiled
from nsysan.timeline.stack_sweep import NOBODY

_FOREVER = int(np.iinfo(np.int64).max)


class Clocks(msgspec.Struct, frozen=True, eq=False):
    """Time between two bounds, and weight that comes in ticks; ``totals[i]`` is that of the first ``i`` ticks.

    The ticks are in order of time.
    """

    bounds_ns: tuple[int, int]
    ticks_ns: Int64Array
    totals: Int64Array


class NestClocks(msgspec.Struct, frozen=True, eq=False):
    """Per interval the row around it (``NOBODY``), the ticks before its begin and its end, and what is its own.

    Its own are the time and the weight while it is the innermost interval of its nest.
    """

    parent: IdArray
    first_tick: IdArray
    last_tick: IdArray
    self_ns: Int64Array
    self_weight: Int64Array


def nest_clocks(start_ns: Int64Array, end_ns: Int64Array, nest: IdArray, clocks: Clocks) -> NestClocks:
    """The clocks of intervals in order of start, of equal starts the longest first, however they overlap.

    ``nest`` numbers the nests from 0: intervals of two of them have nothing to do with each other. One that takes no
    time lies in none and holds nothing.
    """
    count = len(start_ns)
    of_nest = np.bincount(nest)
    bases, states = np.cumsum(of_nest) - of_nest, np.zeros((len(of_nest), 3), np.int64)
    found = NestClocks(*np.zeros((3, count), np.int32), *np.zeros((2, count), np.int64))
    bounds_ns = np.array(clocks.bounds_ns, np.int64)
    inputs = start_ns, end_ns, nest.astype(np.int32, copy=False), bounds_ns, clocks.ticks_ns, clocks.totals
    outputs = found.parent, found.first_tick, found.self_ns, found.self_weight
    compiled(_sweep)(*inputs, *outputs, bases, states, np.empty(count, np.int32))
    compiled(_gallop)(clocks.ticks_ns, end_ns, found.first_tick, found.last_tick)
    return found


def _sweep(  # noqa: PLR0913, PLR0917 -- inputs, outputs and room to work in: numba makes no lists
    starts: Sequence[int],
    ends: Sequence[int],
    nests: Sequence[int],
    bounds: Sequence[int],
    ticks: Sequence[int],
    totals: Sequence[int],
    parents: MutableSequence[int],
    first_ticks: MutableSequence[int],
    self_times: MutableSequence[int],
    self_weights: MutableSequence[int],
    bases: Sequence[int],
    states: Int64Array,
    stack: MutableSequence[int],
) -> None:
    """``states`` has for each nest the height of its stack, the ticks so far, and up to which moment it is swept."""
    count, tick_count = len(starts), len(ticks)
    for row in range(count + len(bases)):
        # after the last interval all that are open end, nest by nest
        is_last = row >= count
        nest = row - count if is_last else nests[row]
        until = _FOREVER if is_last else starts[row]
        base = bases[nest]
        height, tick, swept = states[nest, 0], states[nest, 1], states[nest, 2]
        while height:
            top = stack[base + height - 1]
            now = min(ends[top], until)
            before = tick
            while tick < tick_count and ticks[tick] < now:
                tick += 1
            self_weights[top] += totals[tick] - totals[before]
            self_times[top] += min(max(now, bounds[0]), bounds[1]) - min(max(swept, bounds[0]), bounds[1])
            swept = now
            if ends[top] > until:
                break
            while height and ends[stack[base + height - 1]] <= now:
                height -= 1
        if not is_last:
            while tick < tick_count and ticks[tick] < until:
                tick += 1
            first_ticks[row] = tick
            parents[row] = NOBODY
            if ends[row] > until:
                if height:
                    parents[row] = stack[base + height - 1]
                stack[base + height] = row
                height += 1
            swept = until
        states[nest, 0], states[nest, 1], states[nest, 2] = height, tick, swept


def _gallop(
    ticks: Sequence[int], ends: Sequence[int], first_ticks: Sequence[int], last_ticks: MutableSequence[int]
) -> None:
    """The ticks before each end, which most often lie close to those before the begin."""
    count = len(ticks)
    for row in range(len(ends)):
        end, low, reach = ends[row], first_ticks[row], 1
        while low + reach <= count and ticks[low + reach - 1] < end:
            low, reach = low + reach, 2 * reach
        high = min(low + reach - 1, count)
        while low < high:
            middle = (low + high) // 2
            if ticks[middle] < end:
                low = middle + 1
            else:
                high = middle
        last_ticks[row] = low
