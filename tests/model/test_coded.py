"""A column of few values answers as the array that it stands for."""

from __future__ import annotations

import pickle
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.coded import CodedColumn, coded_column
from nsysan.model.columns import concatenated, is_one_value, narrowed, taken, without_rows
from nsysan.model.distinct import NOWHERE, Distinct, coded, distinct

THREADS = (1 << 48, (1 << 48) + 5, (1 << 48) + (7 << 24), -9)
ROWS = st.lists(st.sampled_from(THREADS), min_size=1, max_size=9).map(lambda values: np.array([*values, 3, 4]))


@given(ROWS)
def test_it_answers_as_the_array(values: np.ndarray) -> None:
    column = narrowed("global_tid", values)
    mask = ~((1 << 24) - 1)

    assert isinstance(column, CodedColumn)
    assert column.places.itemsize == 1
    assert (len(column), column.shape, column.dtype, column.ndim) == (len(values), values.shape, values.dtype, 1)
    assert column.tolist() == list(column) == values.tolist()
    assert (column.min(), column.max()) == (values.min(), values.max())
    assert column[0] == values[0]
    assert column[1:].tolist() == values[1:].tolist()
    assert column[values > 3].tolist() == values[values > 3].tolist()
    assert (column == THREADS[0]).tolist() == (values == THREADS[0]).tolist()
    assert (column & mask).tolist() == (values & mask).tolist()
    assert (3 < column).tolist() == (3 < values).tolist()  # noqa: SIM300 -- the other way round
    assert (column - values).tolist() == [0] * len(values)
    assert np.where(values > 3, column, 0).tolist() == np.where(values > 3, values, 0).tolist()
    assert np.add.reduce(column) == values.sum()
    assert column.astype(np.float64).tolist() == values.astype(np.float64).tolist()


@given(ROWS, st.lists(st.integers(0, 2), max_size=5))
def test_its_values_are_those_that_occur(values: np.ndarray, rows: list[int]) -> None:
    column = taken(narrowed("global_tid", values), np.array(rows, np.intp))
    expected = values[rows]

    assert column.tolist() == expected.tolist()
    assert distinct(column).tolist() == sorted(set(expected.tolist()))
    found, places = coded(column)
    assert found[places].tolist() == expected.tolist()
    assert Distinct.of(np.array([3, 4])).places(column).tolist() == [
        value - 3 if value in (3, 4) else NOWHERE for value in expected.tolist()
    ]


@given(ROWS, ROWS)
def test_pieces_are_put_together(one: np.ndarray, other: np.ndarray) -> None:
    same = narrowed("global_tid", np.full(3, 77))
    column = concatenated([narrowed("global_tid", one), same, narrowed("global_tid", other)])

    assert isinstance(column, CodedColumn)
    assert column.tolist() == [*one.tolist(), 77, 77, 77, *other.tolist()]
    assert not is_one_value(cast("np.ndarray", column))


def test_pieces_without_rows_are_put_together() -> None:
    nothing = taken(narrowed("global_tid", np.array([1, 2])), np.empty(0, np.intp))

    assert concatenated([nothing, nothing]).tolist() == []


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=9), st.sets(st.integers(0, 8)), st.sampled_from(["id", "x_tid"])
)
def test_rows_are_left_out(values: list[int], gone: set[int], name: str) -> None:
    rows = np.array(sorted(row for row in gone if row < len(values)), np.int64)
    expected = [value for row, value in enumerate(values) if row not in gone]

    assert without_rows(narrowed(name, np.array(values)), rows).tolist() == expected


def test_values_in_any_order_and_twice_are_put_in_order() -> None:
    column = coded_column(np.array([9, 3, 9]), np.array([0, 1, 2, 1], np.int8))

    assert column.tolist() == [9, 3, 9, 3]
    assert distinct(column).tolist() == [3, 9]


def test_it_travels_between_processes() -> None:
    column = narrowed("global_tid", np.array([1 << 48, 5, 5]))

    assert pickle.loads(pickle.dumps(column)).tolist() == [1 << 48, 5, 5]


def test_it_cannot_be_written() -> None:
    column = narrowed("global_tid", np.array([1, 2]))

    with pytest.raises(TypeError):
        column[0] = 5


def test_it_cannot_be_written_to() -> None:
    column = narrowed("global_tid", np.array([*THREADS, *THREADS, *THREADS]))

    with pytest.raises(TypeError, match="cannot be written"):
        np.add.at(column, [0], 1)
    with pytest.raises(TypeError, match="cannot be written"):
        column += 1
    assert [part.tolist() for part in np.divmod(column, 2)] == [
        part.tolist() for part in np.divmod(np.array(column.tolist()), 2)
    ]
