"""Blocks of rows become columns of as few bytes as their values need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.ingest.blocks import joined, narrowed
from nsysan.ingest.columns import Column, Need
from nsysan.model.tables import ABSENT

KINDS = [
    ([-128, 127], np.int8),
    ([-129, 0], np.int16),
    ([0, 32_768], np.int32),
    ([0, 1 << 31], np.int64),
    ([ABSENT, 1], np.int64),
]


def column(name: str) -> Column:
    return Column(name, (name,), Need.OPTIONAL)


@pytest.mark.parametrize(("values", "kind"), KINDS)
def test_ids_take_the_narrowest_type_that_holds_them(values: list[int], kind: type[np.signedinteger]) -> None:
    found = narrowed(np.array(values, np.int64))

    assert found.tolist() == values
    assert found.dtype == np.dtype(kind)


def test_one_value_takes_no_room_whatever_the_number_of_rows() -> None:
    blocks = [[np.full(3, 7, np.int64)], [np.full(2, 7, np.int64)]]

    found = joined([column("stream_id")], blocks)["stream_id"]

    assert (found.tolist(), found.strides) == ([7] * 5, (0,))


def test_times_sizes_threads_and_processes_stay_wide() -> None:
    names = ("start_ns", "size_bytes", "global_tid", "global_pid")

    found = joined([column(name) for name in names], [[np.array([1, 2], np.int64)] * 4])

    assert {name: values.dtype for name, values in found.items()} == dict.fromkeys(names, np.dtype(np.int64))


@given(st.lists(st.lists(st.sampled_from([ABSENT, -1, 0, 0, 300, 1 << 40]), max_size=3), max_size=4))
def test_no_value_changes_by_being_joined(blocks: list[list[int]]) -> None:
    arrays = [[np.array(block, np.int64)] * 2 for block in blocks]

    found = joined([column("name_id"), column("global_tid")], arrays)

    everything = [value for block in blocks for value in block]
    assert [values.tolist() for values in found.values()] == [everything, everything]
