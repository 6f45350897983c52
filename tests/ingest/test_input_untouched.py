"""The input stays byte for byte and alone in its folder; what a writer left beside it is seen all the same."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.synth.export import Export
from tests.ingest.permissions import as_nobody
from tests.ingest.reading import names_in, read, refusal, rows
from tests.watching import Watching

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
SECOND_KERNEL = f'INSERT INTO {KERNEL} SELECT * FROM {KERNEL}; UPDATE {KERNEL} SET start = 7, "end" = 9 WHERE rowid = 2'


def folder_state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def kernel_times(path: Path) -> list[tuple[int, ...]]:
    return rows(read(path).kernels, "start_ns", "end_ns")


@pytest.fixture
def temporary_files(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that temporary files go to, empty at first."""
    folder = tmp_path_factory.mktemp("temporary_files")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_nothing_is_written(tmp_path: Path, temporary_files: Path) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    before = folder_state(tmp_path)

    read(path)

    assert folder_state(tmp_path) == before
    assert list(temporary_files.iterdir()) == []


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_file_and_folder_that_cannot_be_written(open_folder: Path, mode: str) -> None:
    path = Export().kernel(0, 5, "gemm").write(open_folder / "rank0.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode={mode}")
    path.chmod(0o444)
    before = folder_state(open_folder)

    with as_nobody():
        trace = read(path)

    assert rows(trace.kernels, "start_ns", "end_ns") == [(0, 5)]
    assert folder_state(open_folder) == before


def test_committed_rows_that_wait_in_a_write_ahead_log_are_seen(tmp_path: Path, temporary_files: Path) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.executescript(SECOND_KERNEL)
        before = folder_state(tmp_path)
        assert before["rank0.sqlite-wal"][1]

        times = kernel_times(path)

        assert folder_state(tmp_path) == before
    assert times == [(0, 5), (7, 9)]
    assert list(temporary_files.iterdir()) == []


def test_a_link_leads_to_the_log_beside_the_file(tmp_path: Path) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "latest.sqlite").symlink_to(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.executescript(SECOND_KERNEL)

        times = kernel_times(tmp_path / "links" / "latest.sqlite")

    assert times == [(0, 5), (7, 9)]


def interrupted_write(folder: Path) -> Path:
    """An export whose writer died after it changed the file and before it committed: the journal can undo it."""
    path = Export().kernel(0, 5, "gemm").write(folder / "live.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size=1")
        writer.execute("BEGIN")
        writer.execute(f"UPDATE {KERNEL} SET start = 7")
        writer.execute(
            "CREATE TABLE filler AS "
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) SELECT i FROM n"
        )
        for name in ("live.sqlite", "live.sqlite-journal"):
            shutil.copy(folder / name, folder / name.replace("live", "rank0"))
    return folder / "rank0.sqlite"


def test_an_interrupted_transaction_is_taken_back_in_a_copy(tmp_path: Path, temporary_files: Path) -> None:
    path = interrupted_write(tmp_path)
    before = folder_state(tmp_path)
    assert before["rank0.sqlite-journal"][1].startswith(bytes.fromhex("d9d505f920a163d7"))

    assert kernel_times(path) == [(0, 5)]
    assert folder_state(tmp_path) == before
    assert list(temporary_files.iterdir()) == []


def test_a_journal_that_names_another_file_is_refused_and_that_file_lives(tmp_path: Path) -> None:
    path = interrupted_write(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    name = os.fsencode(victim)
    with (tmp_path / "rank0.sqlite-journal").open("ab") as journal:
        journal.write((1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big"))
        journal.write(bytes.fromhex("d9d505f920a163d7"))

    error = refusal(path)

    assert error.exit_code == 2
    assert "transaction over several databases" in error.message
    assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    "name", ["what?mode=rw.sqlite", "50%25 #1.sqlite", "-rf.sqlite", " a b.sqlite", "größe.sqlite"]
)
def test_any_name(tmp_path: Path, name: str) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / name)

    assert (kernel_times(path), read(path).name) == ([(0, 5)], name)
    assert names_in(tmp_path) == [name]


def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    odd = path.rename(os.fsdecode(os.fsencode(tmp_path) + b"/rank\xff.sqlite"))

    assert kernel_times(odd) == [(0, 5)]


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    monkeypatch.chdir(tmp_path)

    assert kernel_times(Path("rank0.sqlite")) == [(0, 5)]


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_an_input_that_changes_meanwhile_is_refused(tmp_path: Path, suffix: str) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")

    def change(_doing: str) -> None:
        with path.with_name(path.name + suffix).open("ab") as file:
            file.write(b"\0" * 4096)

    error = refusal(path, ReadOptions(progress=Watching(change)))

    assert (error.exit_code, error.message) == (2, f"{path} changed while it was read.")


def test_damage_by_a_change_is_blamed_on_the_change(tmp_path: Path) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")

    error = refusal(path, ReadOptions(progress=Watching(lambda _doing: os.truncate(path, 4096))))

    assert error.message == f"{path} changed while it was read."


def test_no_room_for_the_copy_that_a_log_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    (tmp_path / "rank0.sqlite-wal").write_bytes(b"\1" * 64)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))

    error = refusal(path)

    assert (error.exit_code, error.message) == (3, "There is no folder to put temporary files in.")


def test_progress_is_told_what_is_done(tmp_path: Path) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    told: list[str] = []

    read_trace(path, ReadOptions(progress=Watching(told.append)))

    assert told == [f"reading {path}", "reading CUPTI_ACTIVITY_KIND_KERNEL"]
