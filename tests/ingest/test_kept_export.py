"""--keep-export: the export is kept and used again only while it is, by content, the export of that very report."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.ingest.nsys import installation
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.trace import Trace
from nsysan.synth.export import Export
from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn, copies, fails
from tests.ingest.reading import edit, names_in, refusal, rows

FOREIGN = {"text": b"my notes", "nothing": b"", "SQLite of someone else": None}


@pytest.fixture(autouse=True)
def no_other_nsys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NSYSAN_NSYS", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(installation, "INSTALLED_AT", ())


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report; only its first bytes matter to the stand-in."""
    path = tmp_path / "rank0.nsys-rep"
    path.write_bytes(REPORT_HEAD)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that keeps exports."""
    path = tmp_path / "working folder"
    path.mkdir()
    return path


def nsys_that_exports(tmp_path: Path, end_ns: int, version: str = "2023.4.4.54") -> StandIn:
    """An nsys that exports every report to one kernel of that length; an earlier one is replaced."""
    export = Export().kernel(0, end_ns, "gemm").write(tmp_path / "exported.sqlite")
    return StandIn(tmp_path, copies(export), version=version)


def keeping(nsys: StandIn | None, folder: Path) -> ReadOptions:
    return ReadOptions(nsys=None if nsys is None else str(nsys.executable), keep_exports_in=folder)


def kernel_end_ns(trace: Trace) -> int:
    ((end_ns,),) = rows(trace.kernels, "end_ns")
    return end_ns


def test_the_export_is_made_once_and_then_taken(tmp_path: Path, report: Path, folder: Path) -> None:
    nsys = nsys_that_exports(tmp_path, 5)
    first = read_trace(report, keeping(nsys, folder))
    assert names_in(folder) == ["rank0.nsysan.sqlite"]
    # it holds what nsys recorded of the environment
    assert stat.S_IMODE((folder / "rank0.nsysan.sqlite").stat().st_mode) == 0o600
    nsys_that_exports(tmp_path, 6)

    second = read_trace(report, keeping(nsys, folder))

    assert (kernel_end_ns(first), kernel_end_ns(second)) == (5, 5)
    assert (second.name, second.reader, second.fingerprint) == (first.name, first.reader, first.fingerprint)


def test_without_the_option_nothing_is_kept_and_nothing_that_was_kept_is_taken(
    tmp_path: Path, report: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    nsys = nsys_that_exports(tmp_path, 5)
    read_trace(report, ReadOptions(nsys=str(nsys.executable)))
    assert names_in(folder) == []
    read_trace(report, keeping(nsys, folder))
    nsys_that_exports(tmp_path, 6)

    assert kernel_end_ns(read_trace(report, ReadOptions(nsys=str(nsys.executable)))) == 6


def test_another_content_of_the_report_is_exported_anew_whatever_the_times_say(
    tmp_path: Path, report: Path, folder: Path
) -> None:
    before = report.stat()
    read_trace(report, keeping(nsys_that_exports(tmp_path, 5), folder))
    # as long as before, and with its times
    report.write_bytes(REPORT_HEAD[:-1] + b"!")
    os.utime(report, ns=(before.st_atime_ns, before.st_mtime_ns))

    trace = read_trace(report, keeping(nsys_that_exports(tmp_path, 6), folder))

    assert kernel_end_ns(trace) == 6


def test_the_same_content_is_taken_whatever_the_times_say(tmp_path: Path, report: Path, folder: Path) -> None:
    read_trace(report, keeping(nsys_that_exports(tmp_path, 5), folder))
    nsys = nsys_that_exports(tmp_path, 6)
    os.utime(report, (2**31, 2**31))
    (tmp_path / "moved").mkdir()
    report = report.rename(tmp_path / "moved" / report.name)

    assert kernel_end_ns(read_trace(report, keeping(nsys, folder))) == 5


def test_another_nsys_exports_anew_and_without_any_what_was_kept_is_taken(
    tmp_path: Path, report: Path, folder: Path
) -> None:
    read_trace(report, keeping(nsys_that_exports(tmp_path, 5), folder))
    newer = nsys_that_exports(tmp_path, 6, "2026.2.1.210")

    assert kernel_end_ns(read_trace(report, keeping(newer, folder))) == 6
    assert kernel_end_ns(read_trace(report, keeping(None, folder))) == 6


def test_an_export_of_fewer_tables_is_made_anew(tmp_path: Path, report: Path, folder: Path) -> None:
    read_trace(report, keeping(nsys_that_exports(tmp_path, 5), folder))
    # as an nsysan that reads fewer tables would have left it
    edit(folder / "rank0.nsysan.sqlite", "UPDATE NSYSAN_EXPORT SET value = 'StringIds' WHERE name = 'tables'")

    assert kernel_end_ns(read_trace(report, keeping(nsys_that_exports(tmp_path, 6), folder))) == 6


def test_two_reports_of_one_name_take_turns_and_are_never_mixed_up(tmp_path: Path, report: Path, folder: Path) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / report.name
    other.write_bytes(REPORT_HEAD + b"other")
    read_trace(report, keeping(nsys_that_exports(tmp_path, 5), folder))

    assert kernel_end_ns(read_trace(other, keeping(nsys_that_exports(tmp_path, 6), folder))) == 6
    assert kernel_end_ns(read_trace(report, keeping(nsys_that_exports(tmp_path, 7), folder))) == 7


@pytest.mark.parametrize("content", FOREIGN)
def test_a_file_of_someone_else_is_never_replaced(tmp_path: Path, report: Path, folder: Path, content: str) -> None:
    nsys, foreign = nsys_that_exports(tmp_path, 5), folder / "rank0.nsysan.sqlite"
    foreign.write_bytes(FOREIGN[content] or Export().kernel(0, 9, "mine").write(tmp_path / "mine").read_bytes())
    before = foreign.read_bytes()

    error = refusal(report, keeping(nsys, folder))

    assert (error.exit_code, error.message) == (2, f"{foreign} is there and was not written by nsysan.")
    assert foreign.read_bytes() == before
    assert not nsys.was_asked()


def test_a_folder_or_dead_link_in_its_place_is_left_alone(tmp_path: Path, report: Path, folder: Path) -> None:
    nsys, place = nsys_that_exports(tmp_path, 5), folder / "rank0.nsysan.sqlite"
    place.mkdir()
    assert refusal(report, keeping(nsys, folder)).exit_code == 2
    place.rmdir()
    place.symlink_to(tmp_path / "nowhere")
    assert refusal(report, keeping(nsys, folder)).exit_code == 2

    assert not (tmp_path / "nowhere").exists()


def test_a_failed_export_leaves_nothing(tmp_path: Path, report: Path, folder: Path) -> None:
    refusal(report, keeping(StandIn(tmp_path, fails(1, "LZ4 decompression failed.", leaves="")), folder))

    assert names_in(folder) == []


def test_a_failed_export_leaves_the_one_that_was_kept(tmp_path: Path, report: Path, folder: Path) -> None:
    read_trace(report, keeping(nsys_that_exports(tmp_path, 5), folder))
    before = (folder / "rank0.nsysan.sqlite").read_bytes()
    report.write_bytes(REPORT_HEAD + b"changed")
    refusal(report, keeping(StandIn(tmp_path, fails(1, "LZ4 decompression failed.")), folder))

    assert (names_in(folder), (folder / "rank0.nsysan.sqlite").read_bytes()) == (["rank0.nsysan.sqlite"], before)


def test_a_kept_export_that_was_damaged_since_is_made_anew(tmp_path: Path, report: Path, folder: Path) -> None:
    read_trace(report, keeping(nsys_that_exports(tmp_path, 5), folder))
    kept = folder / "rank0.nsysan.sqlite"
    with closing(sqlite3.connect(kept)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'"
        ((page,),) = connection.execute(query).fetchall()
    content = bytearray(kept.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    kept.write_bytes(content)

    assert kernel_end_ns(read_trace(report, keeping(nsys_that_exports(tmp_path, 6), folder))) == 6


def test_a_folder_that_is_full(tmp_path: Path, report: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(_export: Path, _part: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("nsysan.ingest.nsys.kept_export.shutil.copyfile", fill)

    error = refusal(report, keeping(nsys_that_exports(tmp_path, 5), folder))

    assert (error.exit_code, error.message, error.hint) == (
        3,
        f"Cannot write {folder}/rank0.nsysan.sqlite: No space left on device.",
        "Make room there, or start nsysan in another folder, or leave out --keep-export.",
    )
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path, report: Path) -> None:
    nsys, absent = nsys_that_exports(tmp_path, 5), tmp_path / "absent"

    error = refusal(report, keeping(nsys, absent))

    assert (error.exit_code, error.message) == (
        2,
        f"Cannot write {absent}/rank0.nsysan.sqlite: No such file or directory.",
    )
