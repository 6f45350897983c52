"""Blocks of rows, in the order of a file, become slices of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.ingest.blocks import Blocks, WholeNeededError
from nsysan.ingest.nsys import work_slices as module
from nsysan.ingest.nsys.tables import WORK
from nsysan.ingest.nsys.work_slices import WorkStream, work_slices
from nsysan.model.progress import UNWATCHED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nsysan.ingest.nsys.tables import RecordTable
    from nsysan.ingest.nsys.work_slices import Slice

STARTS = st.lists(st.integers(-2, 20), max_size=20)


@pytest.fixture(autouse=True)
def _slices_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEWEST_ROWS", 1)
    monkeypatch.setattr(module, "WAITED_BLOCKS", 1)


def stream(kind: RecordTable[Any], starts: list[int], rows_a_block: int) -> WorkStream:
    """Records of one nanosecond, numbered by their device id, in blocks of so many rows."""
    columns = {column.name: np.zeros(len(starts), np.int64) for column in kind.columns}
    columns["start_ns"] = np.array(starts, np.int64)
    columns["end_ns"] = columns["start_ns"] + 1
    columns["device_id"] = np.arange(len(starts))
    columns = {name: column for name, column in columns.items() if name not in module._UNREAD}
    begins = range(0, len(starts), rows_a_block)
    rows = ([column[begin : begin + rows_a_block] for column in columns.values()] for begin in begins)
    return WorkStream(kind, "a table", Blocks(rows, len(starts), lambda: 0), 0)


def sliced(starts: dict[str, list[int]], rows_a_block: int) -> Iterator[Slice]:
    return work_slices({name: stream(WORK[name], starts[name], rows_a_block) for name in starts}, UNWATCHED)


@given(STARTS, STARTS, st.integers(1, 4))
def test_slices_follow_each_other_and_have_every_record_once(
    kernels: list[int], memsets: list[int], rows_a_block: int
) -> None:
    starts = {"kernels": kernels, "memsets": memsets}
    try:
        found = list(sliced(starts, rows_a_block))
    except WholeNeededError:
        return
    latest = -100
    for piece in found:
        # a record of one nanosecond that begins before the session ends with its begin at the latest: it has no time
        begins = [int(max(start, 0)) for table in piece.values() for start in table.start_ns if start >= 0]
        if begins:
            assert min(begins) > latest
            latest = max(begins)
    for name, of_kind in starts.items():
        rows = [int(row) for piece in found for row in piece[name].device_id]
        assert sorted(rows) == list(range(len(of_kind)))


def test_a_late_row_is_waited_for_a_block_long() -> None:
    # the third block has a row that begins before all of the second
    pieces = [piece["kernels"].start_ns.tolist() for piece in sliced({"kernels": [1, 2, 5, 6, 4, 9, 10, 11]}, 2)]

    assert pieces == [[1, 2], [5, 6, 4, 9, 10, 11]]


def test_a_row_that_lies_later_demands_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = {"kernels": [1, 2, 5, 6, 8, 9, 1, 10]}

    with pytest.raises(WholeNeededError):
        list(sliced(starts, 2))

    monkeypatch.setattr(module, "WAITED_BLOCKS", 3)
    assert [piece["kernels"].start_ns.tolist() for piece in sliced(starts, 2)] == [[1, 2, 5, 6, 8, 9, 1, 10]]


def test_rows_in_order_are_never_late() -> None:
    pieces = [piece["kernels"].start_ns.tolist() for piece in sliced({"kernels": list(range(9))}, 2)]

    assert pieces == [[0, 1], [2, 3], [4, 5], [6, 7, 8]]
