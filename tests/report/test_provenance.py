"""Where the figures come from."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.model.run import OptionValue, Provenance, Run
from nsysan.model.trace import CaptureIdentity
from nsysan.report.formats.html import render_page
from nsysan.report.sections.provenance import SECTION, ProvenanceView
from tests.report.runs import REPORT, full_run


def view_of(run: Run) -> ProvenanceView:
    view = SECTION.build(run)
    assert isinstance(view, ProvenanceView)
    return view


def rows_of(run: Run, table_id: str) -> list[list[str]]:
    table = next(table for table in view_of(run).tables if table.id == table_id)
    return [[cell.text for cell in row] for row in table.rows]


def test_inputs_are_listed_with_what_identifies_them() -> None:
    assert view_of(full_run()).heading == "Read from 1 report of 12.346 MB by nsysan 0.1.0"
    assert rows_of(full_run(), "reports") == [
        ["rank0.sqlite", "12.346 MB", "12345678-0123456789abcdef", "nsys_sqlite", "2025.6.1", "3.25.0", "3.500 s"]
    ]


def test_what_the_trace_does_not_tell_is_not_recorded_and_never_zero() -> None:
    bare = replace(REPORT, nsys_version=None, export_schema=None, capture_ns=None)

    assert rows_of(replace(full_run(), reports=(bare,)), "reports")[0][4:] == ["not recorded"] * 3


def test_a_hash_of_the_content_has_its_column_where_it_was_asked_for() -> None:
    hashed = replace(REPORT, sha256="f" * 64)

    assert rows_of(replace(full_run(), reports=(hashed,)), "reports")[0][3] == "f" * 64


def test_several_reports_show_their_ranks_and_clocks() -> None:
    second = replace(REPORT, name="rank1.sqlite", rank=1, world_size=8, clock_offset_ns=1_500, clock_residual_ns=20_000)

    assert rows_of(replace(full_run(), reports=(REPORT, second)), "clocks") == [
        ["rank0.sqlite", "not recorded", "not recorded", "0 ns", "not recorded"],
        ["rank1.sqlite", "1", "8", "1.500 µs", "20.000 µs"],
    ]


def test_rows_that_could_not_be_read_are_counted_by_table() -> None:
    broken = replace(REPORT, unreadable_records={"NVTX_EVENTS": 2, "MEMCPY": 0})

    assert rows_of(replace(full_run(), reports=(broken,)), "unreadable") == [["rank0.sqlite", "NVTX_EVENTS", "2"]]


def test_options_are_those_that_were_given() -> None:
    given: dict[str, OptionValue] = {
        "from_ns": 0,
        "gpu": "gpu1",
        "hash": True,
        "only": ["gpu_time", "idle_gaps"],
        "range": None,
        "force": False,
    }

    assert view_of(full_run()).options == "No option was given."
    assert view_of(replace(full_run(), options=given)).options == (
        "Options: from_ns = 0; gpu = gpu1; hash; only = gpu_time, idle_gaps. Every other option was left as it is."
    )


def test_who_recorded_it_is_shown_only_where_the_run_kept_it() -> None:
    identity = CaptureIdentity("node7", "alice", "python train.py", "/data/rank0.nsys-rep")
    kept = replace(full_run(), provenance=Provenance("nsysan", (identity,)))

    assert "identity" not in [table.id for table in view_of(full_run()).tables]
    assert rows_of(kept, "identity") == [["node7", "alice", "python train.py", "/data/rank0.nsys-rep"]]
    assert "alice" in render_page(kept)


def test_reports_beyond_the_page_are_counted() -> None:
    table = view_of(replace(full_run(), reports=(REPORT,) * 40)).tables[0]

    assert (len(table.rows), table.note) == (32, "8 more reports stand in run.json.")
