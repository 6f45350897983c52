"""Copies: how much, how fast, by which memory, and which rates cannot be true."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.report.elements import Cell
from nsysan.report.sections.copies import SECTION, CopiesView
from tests.report.recorded import COPIES
from tests.report.runs import run_of

UPLOAD, DOWNLOAD, MEMSET = COPIES.copies


def view_of(*rows: CopyRow) -> CopiesView:
    view = SECTION.build(run_of(CopySummary(rows)))
    assert isinstance(view, CopiesView)
    return view


def test_the_heading_leaves_memsets_out_and_names_what_went_through_pageable_memory() -> None:
    # 800 + 200 MB in 4 + 2 copies
    assert view_of(*COPIES.copies).heading == "6 copies moved 1.000 GB, 800.000 MB of it through pageable memory"
    assert view_of(DOWNLOAD, MEMSET).heading == "2 copies moved 200.000 MB"
    # 1 of 201 MB is under 1 %
    assert view_of(replace(UPLOAD, size_bytes=1_000_000), DOWNLOAD).heading == "6 copies moved 201.000 MB"
    assert view_of(MEMSET).heading == "6 memsets and no copy ran in the windows"


def test_copies_of_unknown_size_are_never_copies_of_no_bytes() -> None:
    # UPLOAD's 800 MB are those of 3 of its 4 copies; of DOWNLOAD's 2 copies no size is known
    some, none = replace(UPLOAD, unsized_count=1), replace(DOWNLOAD, size_bytes=None, unsized_count=2)
    table = view_of(some, none).table

    assert view_of(some, none).heading == (
        "6 copies moved at least 800.000 MB, 800.000 MB of it through pageable memory; 3 of them are of unknown size"
    )
    assert view_of(none).heading == "2 copies of unknown size"
    assert table is not None
    assert [row[4] for row in table.rows] == [
        Cell("800.000 MB", "1 of unknown size", value=800_000_000),
        Cell("unknown", style="faint"),
    ]


def test_rows_show_bytes_times_rates_and_memories() -> None:
    table = view_of(*COPIES.copies).table

    assert table is not None
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["host to device", "pageable", "pageable, device", "4", "800.000 MB", "80.000 ms", "20.000 ms", "20.000 ms",
         "10.000 GB/s", "168.000 GB/s"],
        ["device to host", "pinned", "device, pinned", "2", "200.000 MB", "10.000 ms", "5.000 ms", "5.000 ms",
         "20.000 GB/s", "20.000 GB/s"],
        ["memset", "", "device", "6", "600 B", "6.000 µs", "1.000 µs", "1.000 µs", "100.000 MB/s", "100.000 MB/s"],
    ]  # fmt: skip
    assert table.rows[0][1] == Cell("pageable", style="strong")
    assert table.rows[1][1] == Cell("pinned")


def test_rates_that_cannot_be_true_are_marked() -> None:
    table = view_of(*COPIES.copies).table

    assert table is not None
    assert table.rows[0][9] == Cell("168.000 GB/s", "2 not believable", 1.68e11, "strong")


def test_bytes_in_no_time_have_no_rate() -> None:
    instant = replace(
        UPLOAD,
        total_ns=0,
        rate_bytes_per_s=None,
        fastest_bytes_per_s=None,
        plausible_bytes_per_s=None,
        src_memory=None,
        implausible_count=1,
    )
    table = view_of(instant).table

    assert table is not None
    assert table.rows[0][2] == Cell("not recorded, device")
    assert table.rows[0][8:] == (
        Cell("no time", style="faint"),
        Cell("no time", "1 not believable", style="strong"),
    )
