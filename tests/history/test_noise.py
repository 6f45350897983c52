"""What chance does to medians, against the definition and against draws of its own."""

from __future__ import annotations

import random
from itertools import combinations
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.history.noise import critical_ratio, known_noise, spread_of


@given(st.lists(st.integers(-1_000, 1_000), min_size=2, max_size=30))
def test_the_spread_is_the_distance_of_its_rank(values: list[int]) -> None:
    half = len(values) // 2 + 1
    distances = sorted(abs(one - other) for one, other in combinations(values, 2))

    assert spread_of(values) == distances[half * (half - 1) // 2 - 1]


def test_wild_repeats_hardly_move_the_spread() -> None:
    assert spread_of([100, 101, 99, 100, 102, 98, 100, 101]) == spread_of([100, 101, 99, 100, 102, 98, 100, 900])


@pytest.mark.parametrize(("repeats", "runs"), [(6, 1), (10, 3)])
def test_one_in_fifty_pairs_lie_apart_by_more(repeats: int, runs: int) -> None:
    source = random.Random(3)
    limit, beyond, draws = critical_ratio(repeats, runs, 0.02), 0, 10_000

    for _ in range(draws):
        old, new = ([source.gauss(100, 7) for _ in range(count)] for count in (repeats, runs))
        beyond += median(new) - median(old) > limit * spread_of(old)

    # 200 expected; six standard errors of such a count, the simulated limit has one of its own
    assert abs(beyond - 200) < 6 * (200 * 0.98) ** 0.5


def test_a_known_deviation_needs_no_draws() -> None:
    # z of 2.5 % is 1.96; of one run each the variances add up
    assert known_noise(2.0, 1, 1, 0.025) == pytest.approx(1.96 * 2 * 2**0.5, rel=1e-4)
