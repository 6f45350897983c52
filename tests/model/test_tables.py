from __future__ import annotations

import numpy as np
import pytest

from nsysan.model.columns import narrowed
from nsysan.model.tables import ABSENT, OsCalls

CALLS = OsCalls(
    start_ns=np.array([10, 20, 30]),
    end_ns=np.array([15, 25, 35]),
    global_tid=np.array([1, 1, 2]),
    name_id=np.array([7, 8, 7]),
)


def test_a_table_becomes_a_pandas_frame_with_its_columns() -> None:
    frame = CALLS.to_pandas()

    assert list(frame.columns) == ["start_ns", "end_ns", "global_tid", "name_id"]
    assert frame.loc[frame["name_id"] == 7, "start_ns"].tolist() == [10, 30]


def test_records_are_taken_by_position_or_mask() -> None:
    assert CALLS.take(np.array([2, 0])).start_ns.tolist() == [30, 10]
    assert CALLS.take(CALLS.global_tid == 2).name_id.tolist() == [7]


def test_columns_of_unequal_length_are_no_table() -> None:
    with pytest.raises(ValueError, match=r"OsCalls has columns of lengths \[1, 3\]"):
        OsCalls(CALLS.start_ns, CALLS.end_ns, CALLS.global_tid, np.array([7]))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([-128, 127], np.int8),
        ([-129, 0], np.int16),
        ([0, 32_768], np.int32),
        ([0, 1 << 31], np.int64),
        ([ABSENT, 1], np.int64),
    ],
)
def test_ids_take_the_narrowest_type_that_holds_them(values: list[int], kind: type[np.signedinteger]) -> None:
    found = narrowed("stream_id", np.array(values, np.int64))

    assert found.tolist() == values
    assert found.dtype == np.dtype(kind)


@pytest.mark.parametrize("name", ["start_ns", "size_bytes", "global_tid", "global_pid"])
def test_times_sizes_threads_and_processes_stay_wide(name: str) -> None:
    assert narrowed(name, np.array([1, 2], np.int64)).dtype == np.int64


@pytest.mark.parametrize("name", ["stream_id", "global_tid"])
def test_one_value_takes_no_room_whatever_the_number_of_rows(name: str) -> None:
    found = narrowed(name, np.full(1000, 7, np.int64))

    assert (found.tolist(), found.strides) == ([7] * 1000, (0,))
