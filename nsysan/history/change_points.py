"""Where a series changes its level: Pettitt's test, applied again to both sides of what it finds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

SIGNIFICANCE = 0.02
FEWEST = 14
"""The shortest series that a change in its middle can show in: with fewer no order of values is that unlikely."""
LEAST_FRAC = 0.01
"""Levels that are less apart are one."""


class ChangePoint(msgspec.Struct, frozen=True):
    """From the place ``place`` of the series on the level is another: the medians of both sides, and how they differ.

    ``probability`` is that of such a change, or a larger one, in a series of one level (Pettitt's approximation).
    """

    place: int
    before: float
    after: float
    change_frac: float
    probability: float


def change_points(values: Sequence[float]) -> tuple[ChangePoint, ...]:
    """The changes of level, in order.

    Pettitt (1979): K = max over k of |sum of the signs of x[j] - x[i] over i < k <= j|; p = 2 exp(-6 K^2/(n^3 + n^2)).
    It asks for values that do not depend on each other, not for any distribution. A change counts where p is at most
    2 % and the medians of both sides differ by at least 1 %.
    """
    return tuple(_found(values, 0))


def _found(values: Sequence[float], offset: int) -> Iterator[ChangePoint]:
    if len(values) < FEWEST:
        return
    place, statistic = _split(values)
    count = len(values)
    probability = min(1.0, 2 * math.exp(-6 * statistic**2 / (count**3 + count**2)))
    before, after = median(values[:place]), median(values[place:])
    change_frac = (after - before) / before if before else math.inf
    if probability > SIGNIFICANCE or abs(change_frac) < LEAST_FRAC:
        return
    yield from _found(values[:place], offset)
    yield ChangePoint(offset + place, before, after, change_frac, probability)
    yield from _found(values[place:], offset + place)


def _split(values: Sequence[float]) -> tuple[int, int]:
    """Where both sides differ most, and by how much: K of Pettitt, in one pass over k."""
    statistic, best = 0, (1, 0)
    for place, value in enumerate(values[:-1]):
        # moving a value from the right side to the left one changes the sum by how it stands to all others
        statistic += sum((other > value) - (other < value) for other in values)
        if abs(statistic) > abs(best[1]):
            best = (place + 1, statistic)
    return best[0], abs(best[1])
