"""Rows in order, held against ``np.lexsort``."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.arrays import Int64Array
from nsysan.timeline.ordering import foremost, grouped_rows, is_ascending, order_of

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3), st.integers(0, 2)), max_size=30)


def columns_of(rows: list[tuple[int, int, int]]) -> tuple[Int64Array, ...]:
    return tuple(np.array([row[place] for row in rows], np.int64) for place in range(3))


@given(ROWS)
def test_the_order_is_by_key_then_by_ties_then_as_rows_lie(rows: list[tuple[int, int, int]]) -> None:
    keys, first, second = columns_of(rows)

    assert order_of(keys, first, second).tolist() == np.lexsort((second, first, keys)).tolist()
    assert order_of(keys).tolist() == np.argsort(keys, kind="stable").tolist()


@given(ROWS)
def test_groups_are_in_order_of_place_and_their_rows_as_they_lie(rows: list[tuple[int, int, int]]) -> None:
    places, _, _ = columns_of(rows)

    assert grouped_rows(places, 6).tolist() == np.argsort(places, kind="stable").tolist()


@given(ROWS, st.integers(0, 31))
def test_the_foremost_rows_are_the_first_of_all_in_order(rows: list[tuple[int, int, int]], count: int) -> None:
    keys, first, second = columns_of(rows)

    expected = np.lexsort((second, first, keys))[:count].tolist()
    assert foremost(count, keys, first, second).tolist() == expected


def test_of_more_places_than_16_bits_number_the_order_is_the_same() -> None:
    places = np.array([70_000, 1, 70_000, 65_537], np.int64)

    assert grouped_rows(places, 70_001).tolist() == [1, 3, 0, 2]


def test_equal_neighbours_ascend() -> None:
    assert [is_ascending(np.array(values)) for values in ([], [1, 1, 2], [2, 1])] == [True, True, False]
