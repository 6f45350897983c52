"""Launches of two recordings pair by order and name, wherever in a step either begins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.attribution.launch_order import period_of, places_in
from nsysan.timeline.labelling import NOBODY

STEPS = st.lists(st.integers(0, 5), min_size=1, max_size=12)


@settings(max_examples=60)
@given(step=STEPS, length=st.integers(1, 40))
def test_the_period_is_the_smallest_that_repeats(step: list[int], length: int) -> None:
    values = np.resize(np.array(step, np.int64), length)

    brute = next(
        p for p in range(1, length + 1) if np.array_equal(values[p:], values[:-p] if p < length else values[:0])
    )
    assert period_of(values) == brute


@settings(max_examples=60)
@given(step=STEPS, shift=st.integers(0, 11), length=st.integers(1, 60))
def test_every_launch_finds_a_place_of_its_name(step: list[int], shift: int, length: int) -> None:
    told = np.array([*step, 99], np.int64)
    # a name that comes once a step is in it, so that there is one shift
    names = told[(np.arange(length + len(told)) + shift) % len(told)]

    places = places_in(told, names)

    assert places is not None
    assert np.array_equal(told[places], names)
    assert np.array_equal(np.diff(places) % len(told), np.full(len(names) - 1, 1))


@pytest.mark.parametrize(("wrong_count", "fits"), [(0, True), (1, True), (2, False)])
def test_one_in_twenty_may_differ(wrong_count: int, fits: bool) -> None:  # noqa: FBT001
    told = np.arange(20)
    names = told.copy()
    names[5 : 5 + wrong_count] = 99

    places = places_in(told, names)

    assert (places is not None) is fits
    if places is not None:
        assert places.tolist() == [NOBODY if name == 99 else name for name in names.tolist()]


@pytest.mark.parametrize(("told", "names"), [([], [1]), ([1], []), ([1, 2], [3, 4])])
def test_without_a_shared_name_nothing_fits(told: list[int], names: list[int]) -> None:
    assert places_in(np.array(told, np.int64), np.array(names, np.int64)) is None


def test_names_that_fit_in_two_ways_tell_nothing() -> None:
    # a period of shapes may be longer than that of names
    assert places_in(np.array([1, 1, 2, 1, 1, 2]), np.array([1, 2, 1, 1])) is None
