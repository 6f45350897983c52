"""The distinct values of a column, held against numpy's own way of finding them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import NOWHERE, Distinct, coded, distinct, first_rows, summed
from nsysan.model.tables import ABSENT

LARGEST = np.iinfo(np.int64).max
# ids with few holes, ids far apart, and both ends of the range
NUMBERS = st.one_of(st.integers(-3, 3), st.integers(0, 1 << 20), st.sampled_from([ABSENT, ABSENT + 1, 0, LARGEST]))
# ids of processes, whose low bits are all the same
PROCESSES = st.integers(-(1 << 38), 1 << 38).map(lambda number: (number << 24) + 5)
COLUMNS = st.one_of(*(st.lists(kind, max_size=40) for kind in (NUMBERS, PROCESSES))).map(
    lambda numbers: np.array(numbers, np.int64)
)


@given(COLUMNS)
def test_values_places_and_first_rows_are_those_that_numpy_finds(column: Int64Array) -> None:
    values, firsts, places = np.unique(column, return_index=True, return_inverse=True)
    found, found_places = coded(column)

    assert (found.tolist(), found_places.tolist()) == (values.tolist(), places.tolist())
    assert distinct(column).tolist() == values.tolist()
    assert first_rows(found_places).tolist() == firsts.tolist()


@pytest.mark.parametrize("changes_often_from", [None, 0, 70_000])
def test_long_runs_are_coded_as_their_rows(changes_often_from: int | None) -> None:
    column = np.repeat(np.array([7, -3, 7, 1 << 40]), 40_000)
    if changes_often_from is not None:
        column[changes_often_from:] += np.arange(len(column) - changes_often_from) % 3

    values, places = np.unique(column, return_inverse=True)
    found, found_places = coded(column)

    assert (found.tolist(), found_places.tolist()) == (values.tolist(), places.tolist())


@given(COLUMNS, COLUMNS)
def test_what_is_not_among_the_values_has_no_place(column: Int64Array, others: Int64Array) -> None:
    values = sorted(set(column.tolist()))

    places = Distinct.of(column).places(others)

    assert places.tolist() == [values.index(other) if other in values else NOWHERE for other in others.tolist()]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
def test_a_column_of_few_bytes_is_no_different(kind: type[np.signedinteger]) -> None:
    lowest, highest = np.iinfo(kind).min, np.iinfo(kind).max
    values, places = coded(np.array([highest, lowest, 0, highest], kind))

    assert (values.tolist(), places.tolist()) == ([lowest, 0, highest], [2, 0, 1, 2])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-(10**15), 10**15)), max_size=20))
def test_sums_are_those_of_each_place(drawn: list[tuple[int, int]]) -> None:
    places, values = (np.array([pair[side] for pair in drawn], np.int64) for side in (0, 1))
    expected = [sum(value for place, value in drawn if place == wanted) for wanted in range(4)]

    assert summed(values, places, 4).tolist() == expected
    assert summed(values, places.astype(np.int8), 4).tolist() == expected
    sevens = summed(np.broadcast_to(np.int8(7), len(drawn)), places, 4)
    assert sevens.tolist() == [7 * sum(place == wanted for place, _ in drawn) for wanted in range(4)]
