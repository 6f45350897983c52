"""With a real nsys: a report that these tests record, exported plain, normalised and shifted, and how nsys fails."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pytest

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.trace import Trace
from tests.ingest.reading import names_in, read, refusal, rows
from tests.nsys import find_nsys, profile_ranges
from tests.watching import Watching

pytestmark = pytest.mark.nsys

PROGRAM = """
import nvtx
for step in range(20):
    with nvtx.annotate(f"step {step}"), nvtx.annotate("load", domain="data"):
        sum(range(1000))
nvtx.start_range("open")
"""
SECRET = "hf_planted_secret"


@pytest.fixture(scope="module")
def nsys() -> str:
    """The real nsys."""
    return find_nsys()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a program with twenty steps, recorded now."""
    if importlib.util.find_spec("nvtx") is None:
        pytest.skip("nvtx is not installed")
    folder = tmp_path_factory.mktemp("recording")
    (folder / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "HF_TOKEN": SECRET, "TMPDIR": str(folder)}
    return profile_ranges(folder, sys.executable, "program.py", environment=environment)


def read_report(report: Path, nsys: str) -> Trace:
    return read_trace(report, ReadOptions(nsys=nsys))


def named_ranges(trace: Trace) -> list[tuple[str, int, int]]:
    ranges = rows(trace.nvtx_ranges, "name_id", "start_ns", "end_ns")
    return sorted((trace.text(name_id), start_ns, end_ns) for name_id, start_ns, end_ns in ranges)


def test_a_recorded_report_is_read_whole(report: Path, nsys: str) -> None:
    before = report.read_bytes()

    trace = read_report(report, nsys)

    names = [name for name, _, _ in named_ranges(trace)]
    assert names == sorted([*(f"step {step}" for step in range(20)), *["load"] * 20, "open"])
    assert list(trace.nvtx_domains.values()) == ["data"]
    assert (trace.name, trace.reader, trace.kernels) == ("rank0.nsys-rep", "nsys_report", None)
    assert trace.identity.host == os.uname().nodename
    assert trace.identity.command_line == f"{sys.executable} program.py"
    assert trace.nsys_version is not None
    # under load nsys states a capture that is over before the last range is
    assert trace.capture_ns is not None
    assert all(0 <= start_ns <= end_ns for _, start_ns, end_ns in named_ranges(trace))
    assert report.read_bytes() == before


def test_the_environment_of_the_program_is_in_the_report_but_not_in_the_trace(
    report: Path, nsys: str, tmp_path: Path
) -> None:
    export = tmp_path / "rank0.sqlite"
    subprocess.run([nsys, "export", "-q", "true", "-t", "sqlite", "-o", export, report], check=True)
    assert SECRET.encode() in export.read_bytes()

    for trace in (read_report(report, nsys), read(export)):
        assert SECRET not in repr(trace)
        assert SECRET not in repr(sorted(trace.strings.values()))


@pytest.mark.parametrize(
    "options",
    [
        ["--ts-normalize=true"],
        ["--ts-shift=123456789"],
        ["--ts-normalize=true", "--ts-shift=-1000"],
        ["--lazy=false"],
    ],
    ids=" ".join,
)
def test_every_way_to_export_gives_the_same_ranges(report: Path, nsys: str, tmp_path: Path, options: list[str]) -> None:
    export = tmp_path / "rank0.sqlite"
    subprocess.run([nsys, "export", "-q", "true", "-t", "sqlite", "-o", export, *options, report], check=True)

    trace, of_report = read(export), read_report(report, nsys)

    assert named_ranges(trace) == named_ranges(of_report)
    assert trace.session_start_utc_ns == of_report.session_start_utc_ns
    assert trace.capture_ns == of_report.capture_ns


@pytest.mark.parametrize("lazy", ["true", "false"])
@pytest.mark.parametrize("form", ["parquetdir", "arrowdir"])
def test_a_folder_of_tables_gives_the_same_trace(report: Path, nsys: str, tmp_path: Path, form: str, lazy: str) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    options = ["-q", "true", f"--lazy={lazy}"]
    for kind, output in ((form, "rank0_tables"), ("sqlite", "rank0.sqlite")):
        command = [nsys, "export", *options, "-t", kind, "-o", str(tmp_path / output), str(report)]
        subprocess.run(command, check=True)

    trace, of_sqlite = read(tmp_path / "rank0_tables"), read(tmp_path / "rank0.sqlite")

    assert named_ranges(trace) == named_ranges(of_sqlite)
    for field in ("nsys_version", "export_schema", "capture_ns", "session_start_utc_ns", "gpus", "nvtx_domains"):
        assert getattr(trace, field) == getattr(of_sqlite, field)
    # --lazy=false makes a table of what was not recorded, too
    for held in ("kernels", "copies", "memsets"):
        lengths = [None if (table := getattr(each, held)) is None else len(table) for each in (trace, of_sqlite)]
        assert lengths == [None if lazy == "true" else 0] * 2
    # the settings of the capture are not among the tables that 2023.4 writes to a folder
    assert (trace.identity.host, trace.identity.command_line) == (of_sqlite.identity.host, None)


def test_all_tables_of_an_export_that_is_not_lazy(report: Path, nsys: str, tmp_path: Path) -> None:
    export = tmp_path / "rank0.sqlite"
    subprocess.run([nsys, "export", "-q", "true", "-t", "sqlite", "--lazy=false", "-o", export, report], check=True)
    with closing(sqlite3.connect(export)) as connection:
        (table_count,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone()
    assert table_count > 100

    trace = read(export)

    assert named_ranges(trace) == named_ranges(read_report(report, nsys))
    assert [len(rows(table)) for table in (trace.kernels, trace.copies, trace.memsets)] == [0, 0, 0]
    assert trace.unreadable_records == {}


def test_a_kept_export_is_made_once(report: Path, nsys: str, tmp_path: Path) -> None:
    said: list[str] = []
    options = ReadOptions(nsys=nsys, progress=Watching(said.append), keep_exports_in=tmp_path)

    first, second = read_trace(report, options), read_trace(report, options)

    assert named_ranges(first) == named_ranges(second)
    assert names_in(tmp_path) == ["rank0.nsysan.sqlite"]
    assert [word for word, _ in groupby(line.split()[0] for line in said)] == [
        *("waiting", "exporting", "exported", "reading"),
        *("waiting", "taking", "reading"),
    ]


def test_an_odd_name(report: Path, nsys: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-o größe; $x.nsys-rep").write_bytes(report.read_bytes())

    assert read_report(Path("-o größe; $x.nsys-rep"), nsys).nvtx_ranges is not None
    assert names_in(tmp_path) == ["-o größe; $x.nsys-rep"]


def damaged(content: bytes, how: str) -> bytes:
    middle = len(content) // 2
    return {
        "only its first bytes": content[:80],
        "cut off": content[:middle],
        "bits flipped": bytes(byte ^ (0xFF if place % 500 == 499 else 0) for place, byte in enumerate(content)),
        "newer": content.replace(b"Report 20", b"Report 90", 1),
    }[how]


@pytest.mark.parametrize("how", ["only its first bytes", "cut off", "bits flipped", "newer"])
def test_a_report_that_nsys_cannot_export(report: Path, nsys: str, tmp_path: Path, how: str) -> None:
    path = tmp_path / "rank0.nsys-rep"
    path.write_bytes(damaged(report.read_bytes(), how))

    error = refusal(path, ReadOptions(nsys=nsys))

    assert error.exit_code == 2
    assert str(path) in error.message
    assert error.hint
    assert names_in(tmp_path) == ["rank0.nsys-rep"]
