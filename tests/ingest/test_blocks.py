"""Blocks of rows become columns of as few bytes as their values need."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsysan.ingest.blocks import joined
from nsysan.ingest.columns import Column, Need
from nsysan.model.tables import ABSENT


def column(name: str) -> Column:
    return Column(name, (name,), Need.OPTIONAL)


def test_one_value_takes_no_room_whatever_the_number_of_rows() -> None:
    blocks = [[np.full(3, 7, np.int64)], [np.full(2, 7, np.int64)]]

    found = joined([column("stream_id")], blocks)["stream_id"]

    assert (found.tolist(), found.strides) == ([7] * 5, (0,))


@given(st.lists(st.lists(st.sampled_from([ABSENT, -1, 0, 0, 300, 1 << 40]), max_size=3), max_size=20))
def test_no_value_changes_by_being_joined(blocks: list[list[int]]) -> None:
    arrays = [[np.array(block, np.int64)] * 2 for block in blocks]

    found = joined([column("name_id"), column("global_tid")], arrays)

    everything = [value for block in blocks for value in block]
    assert [values.tolist() for values in found.values()] == [everything, everything]
