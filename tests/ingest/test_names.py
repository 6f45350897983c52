"""Names: from the string table or beside the record, whatever bytes they are, and no other strings at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from nsysan.synth.export import Export
from nsysan.synth.tables.row_store import global_pid
from tests.ingest.reading import edit, read, rows, without_constraints

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.tables import Kernels, NvtxMarks, NvtxRanges
    from nsysan.model.trace import Trace

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"


def names(trace: Trace, table: Kernels | NvtxRanges | NvtxMarks | None) -> list[str]:
    return [trace.text(name_id) for (name_id,) in rows(table, "name_id")]


def test_the_demangled_name_is_preferred_then_the_short_then_the_mangled(tmp_path: Path) -> None:
    path = Export().kernel(0, 1, "void gemm<float>(int)", short_name="gemm").write(tmp_path / "rank0.sqlite")
    edit(
        path,
        "INSERT INTO StringIds VALUES (900, '_Z4gemmIfEvi')",
        f"UPDATE {KERNEL} SET mangledName = 900",
    )
    found = []
    for dropped in ("demangledName", "shortName", "mangledName"):
        trace = read(path)
        found += names(trace, trace.kernels)
        edit(path, f"ALTER TABLE {KERNEL} DROP COLUMN {dropped}")

    assert found == ["void gemm<float>(int)", "gemm", "_Z4gemmIfEvi"]


def test_a_name_that_the_report_lost_is_unknown(tmp_path: Path) -> None:
    path = Export().kernel(0, 1, "gemm", short_name="g").write(tmp_path / "rank0.sqlite")
    edit(path, f"UPDATE {KERNEL} SET demangledName = 999")

    trace = read(path)

    assert names(trace, trace.kernels) == ["<unknown:999>"]
    assert trace.strings == {}


@pytest.mark.parametrize("stored", ["x'66ff000a'", "CAST(x'66ff000a' AS TEXT)"])
def test_a_name_that_is_no_utf8_is_read_with_replacement_characters(tmp_path: Path, stored: str) -> None:
    path = Export().kernel(0, 1, "gemm", short_name="g").write(tmp_path / "rank0.sqlite")
    edit(path, f"UPDATE StringIds SET value = {stored} WHERE value = 'gemm'")

    trace = read(path)

    assert names(trace, trace.kernels) == ["f\ufffd\0\n"]


def test_nvtx_names_beside_the_record_or_in_the_string_table(tmp_path: Path) -> None:
    export = Export().nvtx(0, 1, "registered", registered=True).nvtx(1, 2, "inline").nvtx(2, 3, "both", registered=True)
    export.nvtx(3, 4, "registered").sql("UPDATE NVTX_EVENTS SET text = 'inline wins' WHERE start = 2")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert names(trace, trace.nvtx_ranges) == ["registered", "inline", "inline wins", "registered"]
    # one id per text, so that a name counts once wherever it was stored
    (first, _, _, last) = rows(trace.nvtx_ranges, "name_id")
    assert first == last


def test_inline_names_that_are_no_utf8(tmp_path: Path) -> None:
    path = Export().nvtx(0, 1, "?").nvtx(1, 2, "!").write(tmp_path / "rank0.sqlite")
    edit(
        path,
        "UPDATE NVTX_EVENTS SET text = x'66ff' WHERE start = 0",
        "UPDATE NVTX_EVENTS SET text = CAST(x'67ff' AS TEXT) WHERE start = 1",
    )

    trace = read(path)

    assert names(trace, trace.nvtx_ranges) == ["f\ufffd", "g\ufffd"]


@pytest.mark.parametrize("dropped", ["text", "textId"])
def test_either_nvtx_name_column_may_be_missing(tmp_path: Path, dropped: str) -> None:
    export = Export().nvtx(0, 1, "kept", registered=dropped == "text").sql(f"ALTER TABLE NVTX_EVENTS DROP {dropped}")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert names(trace, trace.nvtx_ranges) == ["kept"]


def test_only_ranges_and_marks_are_read_and_an_open_range_has_no_end(tmp_path: Path) -> None:
    """C45: points, categories, names of threads and of domains have no end either, and are no ranges."""
    export = Export()
    for event_type in (33, 34, 39, 59, 60, 70, 71, 75, 97):
        export.nvtx(event_type, None, f"type {event_type}", event_type=event_type)

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    absent = -(2**63)
    assert rows(trace.nvtx_ranges, "start_ns", "end_ns") == [(59, absent), (60, absent), (70, absent), (71, absent)]
    assert sorted(trace.strings.values()) == [f"type {read}" for read in (33, 34, 59, 60, 70, 71, 75)]
    assert (rows(trace.nvtx_marks, "start_ns"), names(trace, trace.nvtx_marks)) == ([(34,)], ["type 34"])


def test_an_nvtx_end_that_is_no_time_does_not_make_an_open_range(tmp_path: Path) -> None:
    path = Export().nvtx(0, 1, "a").nvtx(2, 3, "b").nvtx(4, 5, "c").write(tmp_path / "rank0.sqlite")
    edit(
        path,
        *without_constraints("NVTX_EVENTS"),
        "UPDATE NVTX_EVENTS SET \"end\" = 'later' WHERE start = 0",
        "UPDATE NVTX_EVENTS SET eventType = 'range' WHERE start = 2",
    )

    trace = read(path)

    assert rows(trace.nvtx_ranges, "start_ns", "end_ns") == [(4, 5)]
    assert trace.unreadable_records == {"NVTX_EVENTS": 2}


def test_the_later_name_of_the_nvtx_table(tmp_path: Path) -> None:
    """C50."""
    export = Export().nvtx(0, 1, "step").sql("ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS_V2")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert names(trace, trace.nvtx_ranges) == ["step"]


def test_domain_names_are_kept_per_process(tmp_path: Path) -> None:
    export = Export().nvtx_domain(1, "NCCL", pid=100).nvtx_domain(1, "data", pid=200)
    export.nvtx(0, None, "registered", pid=200, domain=2, registered=True, event_type=75)

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert trace.nvtx_domains == {
        (global_pid(100), 1): "NCCL",
        (global_pid(200), 1): "data",
        (global_pid(200), 2): "registered",
    }


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_every_encoding_of_sqlite(tmp_path: Path, encoding: str) -> None:
    original = Export().kernel(0, 1, "größe").nvtx(0, 1, "schritt № 1").write(tmp_path / "original.sqlite")
    path = tmp_path / "copy.sqlite"
    with closing(sqlite3.connect(original)) as source, closing(sqlite3.connect(path)) as copy:
        copy.executescript("\n".join([f"PRAGMA encoding = '{encoding}';", *source.iterdump()]))

    trace = read(path)

    assert (names(trace, trace.kernels), names(trace, trace.nvtx_ranges)) == (["größe"], ["schritt № 1"])


def test_no_string_that_nothing_names_is_loaded(tmp_path: Path) -> None:
    export = Export().kernel(0, 1, "gemm").nvtx(0, 1, "step").environment("HF_TOKEN", "hf_planted_secret")
    export.sql("INSERT INTO StringIds VALUES (900, 'HF_TOKEN=hf_planted_secret')").host("node1")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert sorted(trace.strings.values()) == ["gemm", "step"]
    assert "hf_planted_secret" not in repr(trace)
