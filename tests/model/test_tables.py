from __future__ import annotations

import numpy as np
import pytest

from nsysan.model.tables import OsCalls

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
