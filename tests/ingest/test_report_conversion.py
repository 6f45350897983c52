"""A .nsys-rep goes through the user's nsys; each way that fails has its own sentence and leaves nothing behind."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

import pytest

from nsysan.ingest.fingerprint import fingerprint_of
from nsysan.ingest.nsys import installation
from nsysan.ingest.nsys.tables import TABLE_NAMES
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import NsysanError
from nsysan.model.trace import CaptureIdentity, Trace
from nsysan.synth.export import Export
from tests.ingest.nsys_stand_in import HELP_2022, HELP_2023, HELP_2026, REPORT_HEAD, StandIn, copies, fails
from tests.ingest.reading import refusal, rows
from tests.watching import Watching


@pytest.fixture(autouse=True)
def no_other_nsys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NSYSAN_NSYS", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(installation, "INSTALLED_AT", ())


@pytest.fixture(autouse=True)
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that temporary files go to, empty at first."""
    folder = tmp_path / "temporary_files"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """What the stand-in exports the report to."""
    return Export().kernel(0, 5, "gemm").host("node1").write(tmp_path / "exported.sqlite")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report; only its first bytes matter to the stand-in."""
    folder = tmp_path / "reports"
    folder.mkdir()
    path = folder / "rank0.nsys-rep"
    path.write_bytes(REPORT_HEAD)
    return path


def read_with(nsys: StandIn, report: Path) -> Trace:
    return read_trace(report, ReadOptions(nsys=str(nsys.executable)))


def refusal_with(nsys: StandIn, report: Path) -> NsysanError:
    return refusal(report, ReadOptions(nsys=str(nsys.executable)))


@pytest.mark.parametrize("suffix", [".nsys-rep", ".qdrep", ".sqlite"])
def test_the_trace_is_that_of_the_report(tmp_path: Path, report: Path, export: Path, suffix: str) -> None:
    nsys = StandIn(tmp_path, copies(export))
    report = report.rename(report.with_suffix(suffix))

    trace = read_with(nsys, report)

    assert rows(trace.kernels, "start_ns", "end_ns") == [(0, 5)]
    assert (trace.name, trace.reader) == (report.name, "nsys_report")
    assert trace.fingerprint == fingerprint_of(report, hash_content=False)
    assert trace.identity == CaptureIdentity("node1", None, None, str(report))


def test_nothing_is_left_behind(tmp_path: Path, report: Path, export: Path, temporary_files: Path) -> None:
    nsys = StandIn(tmp_path, f'touch "$TMPDIR/scratch"; {copies(export)}')

    read_with(nsys, report)

    assert list(temporary_files.iterdir()) == []
    assert list(report.parent.iterdir()) == [report]


def test_nothing_is_left_behind_after_an_interrupt(
    tmp_path: Path, report: Path, export: Path, temporary_files: Path
) -> None:
    nsys = StandIn(tmp_path, copies(export))

    def interrupt(doing: str) -> None:
        if doing.startswith("reading"):
            assert list(temporary_files.iterdir())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_trace(report, ReadOptions(nsys=str(nsys.executable), progress=Watching(interrupt)))

    assert list(temporary_files.iterdir()) == []


@pytest.mark.parametrize(
    ("export_help", "options"),
    [
        (HELP_2022, []),
        (HELP_2023, [f"--tables={','.join(TABLE_NAMES)}"]),
        (HELP_2026, [f"--tables={','.join(TABLE_NAMES)}", "--include-blobs=true", "--include-json=true"]),
    ],
)
def test_nsys_is_asked_for_what_it_knows(
    tmp_path: Path, report: Path, export: Path, export_help: str, options: list[str]
) -> None:
    nsys = StandIn(tmp_path, copies(export), export_help=export_help)

    read_with(nsys, report)

    arguments = nsys.arguments()
    assert arguments[:6] == ["export", "-q", "true", "-t", "sqlite", "-o"]
    assert arguments[7:] == [*options, str(report)]


def test_a_name_like_an_option_is_given_as_a_whole_path(
    tmp_path: Path, report: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nsys = StandIn(tmp_path, copies(export))
    report.rename(report.with_name("--help.nsys-rep"))
    monkeypatch.chdir(report.parent)

    read_with(nsys, Path("--help.nsys-rep"))

    assert nsys.arguments()[-1] == str(report.with_name("--help.nsys-rep"))


FAILURES = {
    "garbage": (
        fails(1, "Exportation error: Cannot read from stream."),
        (2, "ends in its first bytes: the capture did not finish."),
    ),
    "truncated": (
        fails(1, "Exportation error: Section Table Reference magic number mismatch."),
        (2, "is cut off or damaged at its end."),
    ),
    "bit flips": (fails(1, "Exportation error: LZ4 decompression failed.", leaves=""), (2, "is damaged inside.")),
    "bad prefix": (
        fails(1, "Exportation error: Invalid version prefix: SQLite format 3"),
        (2, "does not begin as a report does."),
    ),
    "newer": (
        fails(
            1, "Exportation error: Report was created in Nsight Systems version (2027), newer than your current version"
        ),
        (2, "was recorded by a newer nsys than the one at hand."),
    ),
    "newer, said by 2022.4": (
        fails(1, "Exportation error: Version number is invalid: 2023@4@4@54-2344"),
        (2, "was recorded by a newer nsys than the one at hand."),
    ),
    "unreadable": (
        fails(1, 'Exportation error: FileStream.cpp(288): Throw\n[boost::errinfo_errno_*] = 13, "Permission denied"'),
        (2, "may not be read by nsys."),
    ),
    "gone": (
        fails(1, "Exportation error: File not found: 'rank0.nsys-rep'."),
        (2, "was gone when nsys came to read it."),
    ),
    "disk full": (
        fails(0, "Failed to close database connection: [tag_message*] = database or disk is full", leaves=""),
        (3, "could not be exported: there is no room for temporary files."),
    ),
    "unwritable": (
        fails(1, "Exportation error: unable to open database file"),
        (3, "could not be exported: nsys cannot write to the folder for temporary files."),
    ),
    "no locks": (
        fails(1, "Exportation error: database is locked"),
        (3, "could not be exported: the file system of the temporary folder cannot lock files."),
    ),
    "exists": (
        fails(1, "Exportation error: File already exists: 'x.sqlite'."),
        (3, "could not be exported: a file of another program is in the way."),
    ),
    "ended": ("kill -TERM $$", (3, "could not be exported: nsys was ended by signal 15.")),
    "ended inside a script": ("exit 143", (3, "could not be exported: nsys was ended by signal 15.")),
    "killed for its memory": ("kill -KILL $$", (3, "could not be exported: nsys was ended by signal 9.")),
    "crashed": ("kill -SEGV $$", (2, "made nsys crash (signal 11).")),
    "out of memory": (
        fails(1, "terminate called after throwing an instance of 'std::bad_alloc'"),
        (3, "could not be exported: nsys ran out of memory."),
    ),
    "not importable": (
        fails(1, "Importer error status: An unknown error occurred.\nWrong event order has been detected when adding"),
        (2, "holds events in an order that this nsys refuses."),
    ),
    "not importable, said otherwise": (
        fails(1, "Exportation error: event timestamps are non-monotonic"),
        (2, "holds events in an order that this nsys refuses."),
    ),
    "broken installation": (
        fails(127, "nsys: error while loading shared libraries: libexporter.so: cannot open shared object file"),
        (3, "could not be exported: nsys lacks libraries that it needs."),
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_each_failure_of_nsys_has_its_sentence(tmp_path: Path, report: Path, temporary_files: Path, case: str) -> None:
    """M22 among them: events that the importer refuses to put in order."""
    action, (exit_code, sentence) = FAILURES[case]

    error = refusal_with(StandIn(tmp_path, action), report)

    assert (error.exit_code, error.message) == (exit_code, f"{report} {sentence}")
    assert error.hint
    assert list(temporary_files.iterdir()) == []


@pytest.mark.parametrize("case", ["not importable", "not importable, said otherwise"])
def test_what_cannot_be_put_in_order_wants_a_newer_nsys_or_a_shorter_capture(
    tmp_path: Path, report: Path, case: str
) -> None:
    """M22."""
    error = refusal_with(StandIn(tmp_path, FAILURES[case][0]), report)

    assert error.hint == "Export it with a newer nsys, 2024.2 or later; or record a shorter stretch of the job."


def test_a_failure_that_is_not_known_is_quoted(tmp_path: Path, report: Path) -> None:
    error = refusal_with(StandIn(tmp_path, fails(9, "\x1b[31mThe moon is wrong.\nMore.")), report)

    assert (error.exit_code, error.message) == (
        2,
        f"nsys could not export {report} (exit code 9): \\x1b[31mThe moon is wrong.",
    )


def test_a_silent_failure(tmp_path: Path, report: Path) -> None:
    error = refusal_with(StandIn(tmp_path, "exit 1"), report)

    assert error.message == f"nsys could not export {report} (exit code 1): it did not say why"


def test_a_complaint_counts_as_a_failure_even_where_the_export_looks_whole(
    tmp_path: Path, report: Path, export: Path
) -> None:
    error = refusal_with(StandIn(tmp_path, f"{copies(export)}; {fails(0, 'Something was lost.')}"), report)

    assert error.message == f"nsys could not export {report} (exit code 0): Something was lost."


@pytest.mark.parametrize(
    "action",
    ["true", ': > "$out"', copies(Path("/nonexistent")) + " 2>/dev/null; true"],
    ids=["no file", "an empty file, as where --tables matches nothing", "nothing to copy"],
)
def test_success_without_an_export_is_none(tmp_path: Path, report: Path, action: str) -> None:
    error = refusal_with(StandIn(tmp_path, action), report)

    assert (error.exit_code, error.message) == (2, f"nsys made no usable export of {report}.")


@pytest.mark.parametrize("table", ["StringIds", "META_DATA_EXPORT"])
def test_an_export_without_the_tables_of_every_export_is_none(tmp_path: Path, report: Path, table: str) -> None:
    partial = Export().kernel(0, 5, "gemm").sql(f"DROP TABLE {table}").write(tmp_path / "partial.sqlite")

    error = refusal_with(StandIn(tmp_path, copies(partial)), report)

    assert error.message == f"nsys made no usable export of {report}."


def test_an_export_with_a_structural_fault_is_refused(tmp_path: Path, report: Path) -> None:
    whole = Export().kernel(0, 5, "gemm").sql("CREATE TABLE unread AS SELECT * FROM StringIds")
    content = whole.write(tmp_path / "damaged.sqlite").read_bytes()
    (tmp_path / "damaged.sqlite").write_bytes(content[:-4096] + b"\xff" * 4096)

    error = refusal_with(StandIn(tmp_path, copies(tmp_path / "damaged.sqlite")), report)

    assert error.exit_code == 2
    assert error.message.startswith(f"The export of {report} cannot be read as an SQLite database: ")


@pytest.mark.parametrize("version", ["2023.4.4.53", "2023.3.9.99", "2022.4.2.1"])
def test_a_report_newer_than_the_nsys_at_hand_is_not_even_exported(tmp_path: Path, report: Path, version: str) -> None:
    nsys = StandIn(tmp_path, "exit 1", version=version)

    error = refusal_with(nsys, report)

    assert error.exit_code == 2
    assert error.message == (
        f"{report} was recorded by nsys 2023.4.4.54, and the nsys at hand, {version}, is older and cannot read it."
    )
    assert not nsys.was_asked()


@pytest.mark.parametrize("version", ["2023.4.4.54", "2023.10.1.1", "2026.2.1.210"])
def test_the_same_or_a_newer_nsys_exports(tmp_path: Path, report: Path, export: Path, version: str) -> None:
    assert read_with(StandIn(tmp_path, copies(export), version=version), report).reader == "nsys_report"


@pytest.mark.parametrize("suffix", [".nsys-rep", ".qdrep"])
def test_no_nsys_at_all_says_what_to_run_elsewhere(report: Path, suffix: str) -> None:
    """M21."""
    report = report.rename(report.with_name(f"rank 0{suffix}"))

    error = refusal(report)

    assert (error.exit_code, error.message) == (
        3,
        f"{report} must be exported to be read, and there is no nsys on this machine.",
    )
    command = error.hint.rpartition(": ")[2]
    assert shlex.split(command) == ["nsys", "export", "-t", "sqlite", "-o", "./rank 0.sqlite", f"./rank 0{suffix}"]


def test_progress_says_what_is_exported_how_much_of_it_and_how_long_it_took(
    tmp_path: Path, report: Path, export: Path
) -> None:
    """M09."""
    said: list[str] = []
    nsys = StandIn(tmp_path, copies(export))

    read_trace(report, ReadOptions(nsys=str(nsys.executable), progress=Watching(said.append)))

    asked, begun, done, reading, *_ = said
    assert asked == "waiting for nsys to tell its version and its options"
    assert begun == f"exporting {report} ({len(REPORT_HEAD)} B) with nsys 2023.4.4.54"
    assert done.startswith(f"exported {report}: {export.stat().st_size / 1000:.3f} kB of SQLite in ")
    assert done.endswith(" s")
    assert reading == f"reading {report}"
