"""Codes of rows against the tuples that they stand for, and rows by key against a look at every row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsysan.attribution.grouping import codes_of, rows_by_key
from nsysan.model.tables import ABSENT

VALUES = st.sampled_from([ABSENT, -1, 0, 7, 2**63 - 1])


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=30))
def test_codes_number_the_tuples_in_order(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, np.int64).reshape(len(rows), 3).T

    assert codes_of(*columns).tolist() == [sorted(set(rows)).index(row) for row in rows]


@given(st.lists(st.tuples(VALUES, st.integers(0, 5)), max_size=30))
def test_rows_of_a_key_are_in_order_of_time(records: list[tuple[int, int]]) -> None:
    keys, times_ns = np.array(records, np.int64).reshape(len(records), 2).T

    found = {key: rows.tolist() for key, rows in rows_by_key(keys, times_ns).groups()}

    rows = sorted(range(len(records)), key=lambda row: records[row][1])
    expected = {key: [row for row in rows if records[row][0] == key] for key in sorted({key for key, _ in records})}
    assert found == expected
    assert all(rows_by_key(keys, times_ns).of(key).tolist() == rows for key, rows in expected.items())
