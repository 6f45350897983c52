"""Records of an export become tables: values, absences, wrong types, and rows in any order."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from nsysan.model.tables import ABSENT
from nsysan.synth.export import Export
from nsysan.synth.tables.row_store import global_pid
from tests.ingest.reading import edit, read, rows, without_constraints

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
PID_100 = global_pid(100)


def kernel_times(path: Path) -> list[tuple[int, ...]]:
    return rows(read(path).kernels, "start_ns", "end_ns")


def test_every_kind_of_record(tmp_path: Path) -> None:
    export = Export()
    export.kernel(10, 20, "gemm", device=1, context=2, stream=3, correlation=4)
    export.copy(30, 40, 512, kind=2, src_memory=2, dst_memory=0, src_device=1, device=1, correlation=5)
    export.memset(50, 60, 64, correlation=6)
    export.graph(70, 80, 9, correlation=7)
    export.nvtx(5, 90, "step", tid=101, domain=3)

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    (kernel,) = rows(trace.kernels)
    assert kernel[:-1] == (10, 20, PID_100, 1, 2, 3, 4)
    assert trace.text(kernel[-1]) == "gemm"
    assert rows(trace.copies) == [(30, 40, PID_100, 1, 1, 7, 5, 512, 2, 2, 0, 1, ABSENT)]
    assert rows(trace.memsets) == [(50, 60, PID_100, 0, 1, 7, 6, 64)]
    assert rows(trace.graph_launches) == [(70, 80, PID_100, 0, 1, 7, 7, 9)]
    ((*place, name_id, event_type, _),) = rows(trace.nvtx_ranges)
    assert (place, trace.text(name_id), event_type) == ([5, 90, PID_100 | 101, 3], "step", 59)
    assert trace.unreadable_records == {}


def test_a_table_that_is_not_there_is_none_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    export = Export().kernel(0, 1, "gemm").sql(f"DELETE FROM {KERNEL}")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert rows(trace.kernels) == []
    absent = (trace.copies, trace.memsets, trace.graph_launches, trace.nvtx_ranges)
    assert absent == (None, None, None, None)


def test_a_missing_column_is_absent_and_never_zero(tmp_path: Path) -> None:
    columns = ("contextId", "streamId", "correlationId")
    export = Export().kernel(10, 20, "gemm")
    for column in columns:
        export.sql(f"ALTER TABLE {KERNEL} DROP COLUMN {column}")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert [row[:-1] for row in rows(trace.kernels)] == [(10, 20, PID_100, 0, *[ABSENT] * 3)]


@pytest.mark.parametrize("value", ["'soon'", "1e300", "NULL", "x'6b'", "1.5"])
@pytest.mark.parametrize("column", ["start", "end", "globalPid", "deviceId"])
def test_a_record_without_an_integer_time_or_place_is_left_out_and_counted(
    tmp_path: Path, column: str, value: str
) -> None:
    path = Export().kernel(10, 20, "gemm").kernel(30, 40, "gemm").write(tmp_path / "rank0.sqlite")
    edit(path, *without_constraints(KERNEL), f'UPDATE {KERNEL} SET "{column}" = {value} WHERE start = 10')

    trace = read(path)

    assert rows(trace.kernels, "start_ns", "end_ns") == [(30, 40)]
    assert trace.unreadable_records == {KERNEL: 1}


@pytest.mark.parametrize("value", ["'many'", "1e300", "NULL", "x'6b'"])
def test_another_value_that_is_no_integer_is_absent(tmp_path: Path, value: str) -> None:
    path = Export().copy(10, 20, 512).write(tmp_path / "rank0.sqlite")
    edit(path, *without_constraints(MEMCPY), f"UPDATE {MEMCPY} SET bytes = {value}, copyKind = {value}")

    trace = read(path)

    assert rows(trace.copies, "start_ns", "size_bytes", "copy_kind") == [(10, ABSENT, ABSENT)]
    assert trace.unreadable_records == {}


def test_a_table_without_a_column_that_every_record_needs_is_not_read_but_counted(tmp_path: Path) -> None:
    export = Export().kernel(10, 20, "gemm").kernel(30, 40, "gemm").sql(f'ALTER TABLE {KERNEL} DROP COLUMN "end"')

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert trace.kernels is None
    assert trace.unreadable_records == {KERNEL: 2}


def test_impossible_times_are_handed_on_for_the_analysis_to_count(tmp_path: Path) -> None:
    never = -(2**63)
    path = Export().kernel(0, 0, "no time").kernel(20, 10, "backwards").write(tmp_path / "rank0.sqlite")
    edit(path, f"INSERT INTO {KERNEL} SELECT * FROM {KERNEL}", f"UPDATE {KERNEL} SET start = {never} WHERE rowid = 3")

    assert kernel_times(path) == [(0, 0), (20, 10), (never, 0), (20, 10)]


def test_64_bit_values_stay_exact(tmp_path: Path) -> None:
    late = 2**63 - 1
    export = Export().kernel(late - 1, late, "gemm", pid=0xFFFFFF).session(duration_ns=late)
    path = export.write(tmp_path / "rank0.sqlite")

    assert rows(read(path).kernels, "start_ns", "end_ns", "global_pid") == [(late - 1, late, global_pid(0xFFFFFF))]


def test_the_order_of_rows_makes_no_difference(tmp_path: Path) -> None:
    export = Export()
    for step in range(100):
        export.kernel(step * 10, step * 10 + 5, f"kernel {step % 7}").nvtx(step * 10, step * 10 + 9, f"step {step}")

    in_order = read(export.write(tmp_path / "in_order.sqlite"))
    shuffled = read(export.write(tmp_path / "shuffled.sqlite", shuffle_seed=1))

    assert rows(shuffled.kernels) != rows(in_order.kernels)
    assert sorted(rows(shuffled.kernels)) == rows(in_order.kernels)
    assert sorted(rows(shuffled.nvtx_ranges)) == rows(in_order.nvtx_ranges)
    assert shuffled.strings == in_order.strings


def test_more_rows_than_one_chunk(tmp_path: Path) -> None:
    path = Export().kernel(0, 1, "gemm").write(tmp_path / "rank0.sqlite")
    doublings = [f"INSERT INTO {KERNEL} SELECT * FROM {KERNEL}"] * 16
    edit(path, *doublings, f'UPDATE {KERNEL} SET start = rowid, "end" = rowid + 1')

    assert kernel_times(path) == [(row, row + 1) for row in range(1, 2**16 + 1)]


def test_memory_is_twice_the_columns_and_a_chunk_however_many_ranges(tmp_path: Path) -> None:
    """M09: the bound that docs/inputs.md states."""
    path = Export().nvtx(0, 5, "inline").nvtx(0, 5, "registered", registered=True).write(tmp_path / "rank0.sqlite")
    edit(path, *["INSERT INTO NVTX_EVENTS SELECT * FROM NVTX_EVENTS"] * 16)
    read(path)  # what is imported and cached once is not counted

    tracemalloc.start()
    try:
        trace = read(path)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(rows(trace.nvtx_ranges)) == 2**17
    # five columns of eight bytes, twice; the same rows as Python integers would take more than 200 bytes each
    assert peak_bytes <= 2**17 * 2 * 5 * 8 + 8_000_000
