"""What analyze writes, and what it leaves alone where it cannot or must not write."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.synth.export import Export
from tests.cli.analyzing import refused, write_report

NOBODY_READS = "mkfifo pipe; exec 3<>pipe 4>pipe 3<&-"
"""What is written to 4 meets a pipe whose reader has left."""
pytestmark = pytest.mark.usefixtures("own_folder")


def test_a_foreign_file_is_replaced_only_by_force(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()
    Path("notes.html").write_text("mine")

    assert main(["analyze", "step.sqlite", "-o", "notes.html", "--json", "run.json"]) == 2
    assert "notes.html is there and was not written by nsysan." in capsys.readouterr().err
    assert Path("notes.html").read_text() == "mine"
    assert not Path("run.json").exists()

    assert main(["analyze", "step.sqlite", "-o", "notes.html", "--force"]) == 0
    assert main(["analyze", "step.sqlite", "-o", "notes.html"]) == 0


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_an_input_is_never_written_over(force: tuple[str, ...]) -> None:
    before = write_report().read_bytes()
    Path("link.html").symlink_to("step.sqlite")

    for target in ("step.sqlite", "link.html"):
        assert main(["analyze", "step.sqlite", "-o", target, *force]) == 2

    assert Path("step.sqlite").read_bytes() == before


def test_a_report_inside_a_folder_is_an_input_as_well() -> None:
    Path("ranks").mkdir()
    before = write_report("ranks/rank0.sqlite").read_bytes()

    assert main(["analyze", "ranks", "-o", "ranks/rank0.sqlite", "--force"]) == 2

    assert Path("ranks/rank0.sqlite").read_bytes() == before


@pytest.mark.parametrize("outputs", [("-o", "x", "--json", "x"), ("-o", "x", "--json", "./x"), ("-o", "-")])
def test_outputs_that_cannot_both_be_are_refused(capsys: pytest.CaptureFixture[str], outputs: tuple[str, ...]) -> None:
    write_report()

    assert refused(capsys, "step.sqlite", *outputs)[0] == 2


@pytest.mark.parametrize("name", ["x" * 300, "folder", "missing/page.html"])
def test_a_name_that_cannot_be_written_is_one_sentence(capsys: pytest.CaptureFixture[str], name: str) -> None:
    write_report()
    Path("folder").mkdir()

    assert refused(capsys, "step.sqlite", "-o", name)[0] == 2


def test_a_file_that_cannot_be_written_whole_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        code, complaint = refused(capsys, "step.sqlite", "-o", "page.html")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)

    assert (code, "Cannot write page.html: File too large." in complaint) == (2, True)


def test_a_full_disk_is_no_fault_of_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report()

    def fill(_path: Path, _data: bytes) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(Path, "write_bytes", fill)

    code, complaint = refused(capsys, "step.sqlite", "-o", "page.html")
    assert (code, complaint.splitlines()) == (
        3,
        [
            "nsysan: Cannot write page.html: Disk quota exceeded.",
            "  Make room there, or choose another place for it.",
        ],
    )


def test_a_place_that_cannot_be_written_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()

    assert main(["analyze", "step.sqlite", "--json", "run.json", "-o", "missing/page.html"]) == 2

    assert "Cannot write missing/page.html" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["step.sqlite"]


def _in_a_shell(command: str) -> subprocess.CompletedProcess[str]:
    program = f'set -o pipefail; nsysan() {{ {sys.executable} -m nsysan "$@"; }}; {command}'
    # unbuffered, Python itself drops what a closed pipe does not take
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    ("command", "code", "complaint"),
    [
        ("nsysan analyze step.sqlite --json - | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}", 141, ""),
        (
            "nsysan analyze step.sqlite --json - >/dev/full",
            3,
            "Cannot write to standard output: No space left",
        ),
        ("nsysan analyze step.sqlite -o page.html 2>&-", 0, ""),
        ("nsysan analyze step.sqlite --from abc 2>/dev/full", 2, ""),
        ("nsysan analyze nowhere.sqlite 2>/dev/full", 2, ""),
        ("nsysan info --nowhere 2>/dev/full", 2, ""),
        (f"{NOBODY_READS}; nsysan analyze step.sqlite --from abc >&4 2>&4", 2, ""),
        (f"{NOBODY_READS}; nsysan analyze nowhere.sqlite >&4 2>&4", 2, ""),
        ("nsysan analyze step.sqlite -o page.html >&-", 0, ""),
        ("nsysan compare step.sqlite step.sqlite -o page.html -q >&-", 0, ""),
        ("nsysan analyze step.sqlite --json - >&-", 3, "Standard output is closed"),
        ("nsysan compare step.sqlite step.sqlite --json - >&-", 3, "Standard output is closed"),
        ("nsysan info step.sqlite >&-", 3, "Standard output is closed"),
        ("nsysan record-help >&-", 3, "Standard output is closed"),
        ("nsysan synth --list >&-", 3, "Standard output is closed"),
    ],
)
def test_streams_that_are_closed_or_full(command: str, code: int, complaint: str) -> None:
    export = Export()
    for index in range(900):
        export.kernel(index * 10, index * 10 + 5, f"kernel_{index}_{'x' * 200}")
    export.write(Path("step.sqlite"))

    finished = _in_a_shell(command)

    assert (finished.returncode, "Exception" in finished.stderr, "Traceback" in finished.stderr) == (code, False, False)
    assert complaint in finished.stderr


def test_a_bug_is_one_sentence_and_exit_4(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write_report()
    monkeypatch.setattr("nsysan.pipeline.analyze.build_job", lambda *_, **__: 1 / 0)

    assert main(["analyze", "step.sqlite"]) == 4
    assert "ZeroDivisionError" in capsys.readouterr().err

    monkeypatch.setenv("NSYSAN_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["analyze", "step.sqlite"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_an_end_from_outside_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    write_report()
    monkeypatch.setattr(Path, "write_bytes", lambda *_: signal.raise_signal(number))

    assert main(["analyze", "step.sqlite"]) == code
    assert [path.name for path in Path().iterdir()] == ["step.sqlite"]


def test_an_end_that_comes_after_the_files_says_that_they_are_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report()
    monkeypatch.setattr("nsysan.cli.analyze.visible_text", lambda _: signal.raise_signal(signal.SIGINT))

    assert main(["analyze", "step.sqlite", "--json", "run.json"]) == 130
    assert capsys.readouterr().err == "nsysan: Interrupted; written by then: run.json.\n"
    assert Path("run.json").exists()


def test_a_hangup_that_is_ignored_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under nohup."""
    write_report()
    replace = Path.replace
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def hang_up_and_replace(path: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGHUP)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", hang_up_and_replace)
    try:
        assert main(["analyze", "step.sqlite"]) == 0
    finally:
        signal.signal(signal.SIGHUP, previous)


def test_rights_of_new_files_follow_the_umask() -> None:
    write_report()
    old = os.umask(0o027)
    try:
        assert main(["analyze", "step.sqlite", "-q"]) == 0
    finally:
        os.umask(old)

    assert Path("step.nsysan.html").stat().st_mode & 0o777 == 0o640


def test_a_file_of_a_folder_of_tables_is_never_written_over() -> None:
    table_folders = pytest.importorskip("tests.ingest.table_folders", reason="pyarrow is not installed")
    folder = table_folders.as_folder(write_report(), Path("step_pqtdir"), ".parquet")
    table = folder / "StringIds.parquet"
    before = table.read_bytes()

    assert main(["analyze", "step_pqtdir", "--json", str(table), "--force"]) == 2
    assert table.read_bytes() == before
