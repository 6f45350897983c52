"""Codes of rows against the tuples that they stand for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsysan.attribution.grouping import codes_of
from nsysan.model.tables import ABSENT

VALUES = st.sampled_from([ABSENT, -1, 0, 7, 2**63 - 1])


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=30))
def test_codes_number_the_tuples_in_order(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, np.int64).reshape(len(rows), 3).T

    assert codes_of(*columns).tolist() == [sorted(set(rows)).index(row) for row in rows]
