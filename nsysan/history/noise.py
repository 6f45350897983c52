"""How far medians of repeats lie apart by chance, told from the repeats themselves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import pi, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

FEWEST_REPEATS = 6
"""With fewer, what chance may do is so large that no loss worth the name could ever be told from it."""
MOST_REPEATS = 30
"""More repeats tell hardly more; the newest ones count."""
_DRAWS = 40_000
_AT_ONCE = 4_000
_SEED = 0
_MEDIAN_FROM = 3


def spread_of(repeats: Sequence[float]) -> float:
    """How far repeats scatter: of the distances between any two of them the one at the first quarter, or there about.

    Qn of Rousseeuw and Croux (1993) without its factors: the k-th smallest of all |x[i] - x[j]|, i < j, with
    k = h (h - 1) / 2 and h = n // 2 + 1. Up to half of the repeats may be wild without moving it far.
    """
    return float(_spreads(np.array([repeats], np.float64))[0])


@cache
def critical_ratio(repeat_count: int, run_count: int, false_alarm: float) -> float:
    """How many spreads the median of new runs lies above that of the repeats in one of 1 / ``false_alarm`` cases.

    Told from 40,000 simulated pairs in which nothing changed: all runs normal, of one level and scatter, and none of
    them depending on another. The draws are always the same.
    """
    source = np.random.default_rng(_SEED)
    ratios = []
    for _ in range(_DRAWS // _AT_ONCE):
        repeats = source.standard_normal((_AT_ONCE, repeat_count))
        runs = source.standard_normal((_AT_ONCE, run_count))
        ratios.append((np.median(runs, axis=1) - np.median(repeats, axis=1)) / _spreads(repeats))
    return float(np.quantile(np.concatenate(ratios), 1 - false_alarm))


def known_noise(standard_deviation: float, repeat_count: int, run_count: int, false_alarm: float) -> float:
    """By how much the median of new runs exceeds that of the repeats in one of 1 / ``false_alarm`` cases.

    Of normal runs with a known standard deviation: z * sd * sqrt(v(n) + v(m)), v the variance of a median of so many.
    """
    variance = _variance_of_median(repeat_count) + _variance_of_median(run_count)
    return NormalDist().inv_cdf(1 - false_alarm) * standard_deviation * sqrt(variance)


def _variance_of_median(count: int) -> float:
    return (pi / 2 if count >= _MEDIAN_FROM else 1.0) / count


def _spreads(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Qn of each row."""
    count = rows.shape[1]
    left, right = np.triu_indices(count, 1)
    half = count // 2 + 1
    place = half * (half - 1) // 2 - 1
    distances = np.abs(rows[:, left] - rows[:, right])
    found: npt.NDArray[np.float64] = np.partition(distances, place, axis=1)[:, place]
    return found
