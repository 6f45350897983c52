"""When nsys counts as stalled, and that folders of killed runs go while those in use stay."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from nsysan.ingest.nsys.supervision import DEFAULT_PATIENCE_S, Progress, Watch, export_patience_s, written_bytes
from nsysan.ingest.private_folder import private_folder
from nsysan.model.errors import UsageError
from tests.ingest.reading import names_in

Seen = list[tuple[float, int, float | None]]
# seconds, bytes written, CPU seconds; patience is 10 s
COURSES: dict[str, tuple[Seen, list[float | None]]] = {
    "writes all the time": ([(9, 1, 0), (18, 2, 0), (27, 3, 0)], [None, None, None]),
    "writes nothing and does nothing": ([(9, 0, 0), (10, 0, 0.09)], [None, 10]),
    "wakes now and then": ([(10, 0, 0.1), (19, 0, 0.1), (20, 0, 0.1999)], [None, None, 10]),
    "wrote and stopped": ([(9, 5, 8), (18, 5, 8), (19, 5, 8)], [None, None, 10]),
    "removes what it wrote": ([(9, 5, 0), (18, 4, 0), (27, 4, 0), (28, 4, 0)], [None, None, None, 10]),
    "computes without writing": ([(10 * n, 0, 10 * n) for n in range(1, 7)], [None] * 5 + [60]),
    "nobody tells what it computes": ([(9, 0, None), (10, 0, None)], [None, 10]),
}


@pytest.mark.parametrize("course", COURSES)
def test_when_a_program_has_stalled(course: str) -> None:
    seen, expected = COURSES[course]
    watch = Watch(10, Progress(0, 0, None if seen[0][2] is None else 0))

    assert [watch.stalled_s(Progress(*now)) for now in seen] == expected


def test_a_patience_of_nothing_has_no_end() -> None:
    assert Watch(0, Progress(0, 0, 0)).stalled_s(Progress(10**9, 0, 0)) is None


@pytest.mark.parametrize(("given", "seconds"), [("", DEFAULT_PATIENCE_S), ("90", 90), ("0", 0), ("0.5", 0.5)])
def test_the_patience_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch, given: str, seconds: float) -> None:
    monkeypatch.setenv("NSYSAN_NSYS_PATIENCE", given)

    assert export_patience_s() == seconds


@pytest.mark.parametrize("given", ["soon", "-1", "inf", "nan"])
def test_a_patience_that_is_none(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("NSYSAN_NSYS_PATIENCE", given)

    with pytest.raises(UsageError, match="NSYSAN_NSYS_PATIENCE is no number of seconds"):
        export_patience_s()


def test_a_folder_that_goes_while_it_is_measured_counts_as_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "export.sqlite").write_bytes(b"12345")
    (tmp_path / "going").mkdir()
    scandir = os.scandir

    def going(path: Any) -> Any:
        if Path(path).name == "going":
            Path(path).rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", going)

    assert written_bytes(tmp_path) == 5
    assert names_in(tmp_path) == ["export.sqlite"]


@pytest.fixture
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that temporary files go to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_only_folders_that_lost_their_owner_go(temporary_files: Path) -> None:
    abandoned = temporary_files / "nsysan-abandoned"
    with private_folder() as folder:
        (folder / "export.sqlite").write_bytes(b"x")
        abandoned.mkdir()
        # nobody holds this lock any more
        (abandoned / "owner.lock").touch()
        for name in ("nsysan-without-a-lock", "another-program"):
            (temporary_files / name).mkdir()
        (temporary_files / "nsysan-link").symlink_to(folder)
        (temporary_files / "another-program" / "owner.lock").touch()
        with private_folder() as second:
            left = {path.name for path in temporary_files.iterdir()}
            assert left == {folder.name, second.name, "nsysan-without-a-lock", "another-program", "nsysan-link"}
        assert (folder / "export.sqlite").read_bytes() == b"x"

    assert names_in(temporary_files / "another-program") == ["owner.lock"]
