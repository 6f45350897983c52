"""Traces that travel: every column comes out as it went in, and in few bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.columns import is_one_value
from nsysan.model.tables import Table
from nsysan.pipeline.packing import packed, unpacked
from nsysan.synth.export import Export
from tests.analysis.nccl_traces import MS

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.trace import Trace

INT64 = st.integers(-(2**63), 2**63 - 1)


def assert_equal(one: Trace, other: Trace) -> None:
    for field in one.__struct_fields__:
        a, b = getattr(one, field), getattr(other, field)
        if not isinstance(a, Table):
            assert a == b, field
            continue
        for name, column in a.columns().items():
            again = b.columns()[name]
            assert (again.dtype, again.tolist()) == (column.dtype, column.tolist()), f"{field}.{name}"


def kernels(path: Path, count: int) -> Trace:
    export = Export()
    for place in range(count):
        export.kernel(place * MS, MS // 2, f"kernel {place % 3}", stream=7 + place % 2)
    return read_trace(export.write(path), ReadOptions())


def test_a_trace_comes_out_as_it_went_in_in_a_fraction_of_the_bytes(tmp_path: Path) -> None:
    trace = kernels(tmp_path / "rank0.sqlite", 2000)

    data = packed(trace)

    assert_equal(trace, unpacked(data))
    # begin and end of a kernel alone are 32,000 bytes
    assert len(data) < 4000


def test_one_value_of_all_rows_stays_one_value(tmp_path: Path) -> None:
    found = unpacked(packed(kernels(tmp_path / "rank0.sqlite", 50))).kernels

    assert found is not None
    assert is_one_value(found.global_pid)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@given(values=st.lists(INT64, min_size=1, max_size=30))
def test_any_column_travels(values: list[int], dtype: str) -> None:
    column = np.array(values, np.int64).astype(dtype)
    again = unpacked(packed(column))

    assert isinstance(again, np.ndarray)
    assert (again.dtype, again.tolist()) == (column.dtype, column.tolist())
