"""Changes of level: found where they are, and none where there is none."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from nsysan.history.change_points import FEWEST, ChangePoint, _split, change_points


def noisy(levels: Sequence[float], seed: int, *, spread: float = 0.005) -> list[float]:
    source = random.Random(seed)
    return [level * (1 + source.gauss(0, spread)) for level in levels]


def test_a_change_has_its_place_levels_and_probability() -> None:
    values = [100.0] * 8 + [103.0] * 8

    # K = 8 * 8
    probability = 2 * math.exp(-6 * 64**2 / (16**3 + 16**2))
    assert change_points(values) == (ChangePoint(8, 100.0, 103.0, 0.03, probability),)


def test_two_changes_are_found_in_their_order() -> None:
    values = noisy([100] * 20 + [110] * 20 + [95] * 20, seed=1)

    assert [change.place for change in change_points(values)] == [20, 40]


def test_levels_less_than_one_percent_apart_are_one() -> None:
    assert change_points([1000.0] * 10 + [1009.0] * 10) == ()


def test_a_short_series_tells_nothing() -> None:
    assert change_points([1.0] * (FEWEST // 2) + [2.0] * (FEWEST // 2 - 1)) == ()
    assert len(change_points([1.0] * (FEWEST // 2) + [2.0] * (FEWEST // 2))) == 1


def test_a_drift_is_told_as_levels_that_rise() -> None:
    drifting = [100 * (1 + 0.004 * place) for place in range(60)]

    found = change_points(noisy(drifting, 1, spread=0.01))

    assert len(found) >= 2
    assert [point.change_frac > 0 for point in found] == [True] * len(found)
    assert [point.place for point in found] == sorted(point.place for point in found)


def test_one_level_is_rarely_taken_for_two() -> None:
    found = [change_points(noisy([100] * 30, seed, spread=0.02)) for seed in range(300)]

    # at most 2 % of the series, give or take three standard errors of that count
    assert sum(map(bool, found)) <= 300 * 0.02 + 3 * math.sqrt(300 * 0.02 * 0.98)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=20))
def test_the_split_is_the_best_of_all_by_the_definition(values: list[int]) -> None:
    def statistic(place: int) -> int:
        pairs = ((left, right) for left in values[:place] for right in values[place:])
        return abs(sum((right > left) - (right < left) for left, right in pairs))

    place, found = _split([float(value) for value in values])

    assert found == max(map(statistic, range(1, len(values))))
    assert found == 0 or statistic(place) == found
