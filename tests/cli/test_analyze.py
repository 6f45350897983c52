"""The analyze command as a user meets it: files, exit codes, refusals."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nsysan.analysis.registry import analyses
from nsysan.cli.main import main
from nsysan.model.text import DISPLAY_LIMIT
from nsysan.synth.export import Export
from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn, copies

GEMM = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _report(name: str = "step.sqlite", **changes: Any) -> Path:
    export = Export(**changes).session(utc_epoch_ns=1_779_630_014_975_716_426).host("node1")
    export.environment("WANDB_API_KEY", "sk-secret").nvtx(0, 60_000, "loop")
    export.kernel(10_000, 40_000, GEMM).kernel(50_000, 90_000, "my_kernel")
    return export.write(Path(name))


def _run_json(*arguments: str) -> dict[str, Any]:
    assert main(["analyze", *arguments, "--json", "out.json", "--force", "-q"]) == 0
    document: dict[str, Any] = json.loads(Path("out.json").read_text())
    return document


def test_the_page_lies_in_the_working_folder_and_its_path_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    _report()

    assert main(["analyze", "step.sqlite"]) == 0

    output = capsys.readouterr().out
    assert output.splitlines()[-1] == "Page: step.nsysan.html"
    assert len(output.splitlines()) <= 40
    assert sorted(path.name for path in Path().iterdir()) == ["step.nsysan.html", "step.sqlite"]


def test_json_alone_writes_no_page() -> None:
    _report()

    assert main(["analyze", "step.sqlite", "--json", "run.json"]) == 0

    assert sorted(path.name for path in Path().iterdir()) == ["run.json", "step.sqlite"]


def test_json_and_page_are_both_written_when_both_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    _report()

    assert main(["analyze", "step.sqlite", "--json", "run.json", "-o", "page.html", "-q"]) == 0

    assert capsys.readouterr().out == "Page: page.html\nRun: run.json\n"


def test_json_to_stdout_is_nothing_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    _report()

    assert main(["analyze", "step.sqlite", "--json", "-"]) == 0

    captured = capsys.readouterr()
    assert json.loads(captured.out)["schema_version"] == 1
    assert captured.err == ""
    assert [path.name for path in Path().iterdir()] == ["step.sqlite"]


@pytest.mark.parametrize(
    ("arguments", "window"),
    [
        ((), (10_000, 90_000)),
        (("--from", "20us"), (20_000, 90_000)),
        (("--to", "0.00006"), (10_000, 60_000)),
        (("--from", "20000ns", "--to", "0.06ms"), (20_000, 60_000)),
        (("--range", "loop"), (0, 60_000)),
    ],
)
def test_window_options(arguments: tuple[str, ...], window: tuple[int, int]) -> None:
    _report()

    (gpu,) = _run_json("step.sqlite", *arguments)["gpus"]

    assert (gpu["window_start_ns"], gpu["window_end_ns"]) == window
    assert sum(gpu["time"].values()) == window[1] - window[0]


def _complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    before = sorted(path.name for path in Path().iterdir())
    code = main(["analyze", *arguments])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sorted(path.name for path in Path().iterdir()) == before
    return code, captured.err


@pytest.mark.parametrize(
    ("arguments", "sentence", "hint"),
    [
        (("--gpu", "7"), "There is no GPU '7' in this run.", "GPUs here: gpu0 (unnamed)."),
        (
            ("--range", "epoch"),
            "step.sqlite holds no range 'epoch'.",
            "Most frequent ranges here, with their number: loop (1).",
        ),
        (
            ("--range", "loop/1"),
            "step.sqlite holds no range 'loop/1'.",
            "Ranges of this name are numbered from 0 in each process; the last is 0.",
        ),
        (("--range", "loop", "--to", "1"), "--range gives both ends of the window", "Leave out"),
        (("--from", "2", "--to", "1"), "The window ends at 1.000000000s", "Give --from a time before --to."),
        (("--from", "5"), "No GPU work lies in the window asked for.", "There is GPU work from 0.000010000s"),
        # the capture is over long before: what is wrong is no order of --from and --to
        (("--from", "5", "--to", "6"), "No GPU work lies in the window asked for.", "There is GPU work from"),
        (("--range", "loop/99999999999999999999999"), "step.sqlite holds no range 'loop/99999999999999999999999'.", ""),
        (("--range", "loop/\u0660"), "step.sqlite holds no range 'loop/\u0660'.", ""),
        (("--from", "999999999999999999s"), "'999999999999999999s' is longer than any session.", ""),
        (("--ranks", "rank0"), "--ranks holds 'rank0', which is no NAME=RANK.", "Write --ranks a.sqlite=0"),
        (("--ranks", "b.sqlite=0"), "--ranks gives no rank to", "Name every file"),
        (("--only", ""), "There is no analysis ''.", "Analyses: baseline, "),
        (("--only", "gpu_time,"), "There is no analysis ''.", "Analyses: baseline, "),
        (("--only", "nothing"), "There is no analysis 'nothing'.", "Analyses: baseline, "),
        (("--from", "soon"), "'soon' is no time; write 12.5s, 800ms, 30us or 1500ns.", ""),
        (("--from", "0.5ns"), "'0.5ns' is finer than a nanosecond.", ""),
        (("--fail-on", "much"), "'much' is not one of", ""),
    ],
)
def test_what_does_not_fit_is_refused_with_the_next_step(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str, hint: str
) -> None:
    _report()

    code, complaint = _complaint(capsys, "step.sqlite", *arguments)

    assert code == 2
    assert sentence in complaint
    assert hint in complaint


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda _path: None, "There is no file"),
        (lambda path: path.write_bytes(b""), "empty"),
        (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 50), "PNG"),
        (lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), "LFS"),
        (lambda path: path.mkdir(), "holds no report"),
    ],
)
def test_what_is_no_report_is_refused(capsys: pytest.CaptureFixture[str], make: Any, sentence: str) -> None:
    make(Path("bad.sqlite"))

    code, complaint = _complaint(capsys, "bad.sqlite")

    assert code == 2
    assert sentence.lower() in complaint.lower()
    assert len(complaint.splitlines()) >= 2  # T17: the sentence, and what to do next


def test_a_foreign_file_is_replaced_only_by_force(capsys: pytest.CaptureFixture[str]) -> None:
    _report()
    Path("notes.html").write_text("mine")

    assert main(["analyze", "step.sqlite", "-o", "notes.html", "--json", "run.json"]) == 2
    assert "notes.html is there and was not written by nsysan." in capsys.readouterr().err
    assert Path("notes.html").read_text() == "mine"
    assert not Path("run.json").exists()

    assert main(["analyze", "step.sqlite", "-o", "notes.html", "--force"]) == 0
    assert main(["analyze", "step.sqlite", "-o", "notes.html"]) == 0


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_an_input_is_never_written_over(force: tuple[str, ...]) -> None:
    before = _report().read_bytes()
    Path("link.html").symlink_to("step.sqlite")

    for target in ("step.sqlite", "link.html"):
        assert main(["analyze", "step.sqlite", "-o", target, *force]) == 2

    assert Path("step.sqlite").read_bytes() == before


def test_a_report_inside_a_folder_is_an_input_as_well() -> None:
    Path("ranks").mkdir()
    before = _report("ranks/rank0.sqlite").read_bytes()

    assert main(["analyze", "ranks", "-o", "ranks/rank0.sqlite", "--force"]) == 2

    assert Path("ranks/rank0.sqlite").read_bytes() == before


@pytest.mark.parametrize("outputs", [("-o", "x", "--json", "x"), ("-o", "x", "--json", "./x"), ("-o", "-")])
def test_outputs_that_cannot_both_be_are_refused(capsys: pytest.CaptureFixture[str], outputs: tuple[str, ...]) -> None:
    _report()

    assert _complaint(capsys, "step.sqlite", *outputs)[0] == 2


@pytest.mark.parametrize("name", ["x" * 300, "folder", "missing/page.html"])
def test_a_name_that_cannot_be_written_is_one_sentence(capsys: pytest.CaptureFixture[str], name: str) -> None:
    _report()
    Path("folder").mkdir()

    assert _complaint(capsys, "step.sqlite", "-o", name)[0] == 2


def test_a_file_that_cannot_be_written_whole_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    _report()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        code, complaint = _complaint(capsys, "step.sqlite", "-o", "page.html")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)

    assert (code, "Cannot write page.html: File too large." in complaint) == (2, True)


def test_a_full_disk_is_no_fault_of_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _report()

    def fill(_path: Path, _data: bytes) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(Path, "write_bytes", fill)

    code, complaint = _complaint(capsys, "step.sqlite", "-o", "page.html")
    assert (code, complaint.splitlines()) == (
        3,
        [
            "nsysan: Cannot write page.html: Disk quota exceeded.",
            "  Make room there, or choose another place for it.",
        ],
    )


def test_a_place_that_cannot_be_written_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    _report()

    assert main(["analyze", "step.sqlite", "--json", "run.json", "-o", "missing/page.html"]) == 2

    assert "Cannot write missing/page.html" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["step.sqlite"]


@pytest.mark.parametrize(("threshold", "code"), [("info", 1), ("warning", 1), ("critical", 0)])
def test_fail_on_judges_after_writing(threshold: str, code: int) -> None:
    _report()  # 40 of 70 µs of kernel time are unclassified: a warning

    assert main(["analyze", "step.sqlite", "--json", "run.json", "--fail-on", threshold]) == code

    assert Path("run.json").exists()


def test_a_trace_without_gpu_work_is_fine_unless_it_must_be_judged(capsys: pytest.CaptureFixture[str]) -> None:
    Export().nvtx(0, 10, "step").write(Path("cpu.sqlite"))

    assert main(["analyze", "cpu.sqlite", "-q"]) == 0
    assert main(["analyze", "cpu.sqlite", "-q", "--fail-on", "info"]) == 5
    assert "the trace holds no GPU work" in capsys.readouterr().err


def test_only_runs_what_was_asked_for() -> None:
    _report()

    document = _run_json("step.sqlite", "--only", "kernel_summary")

    assert "kernels" in document
    assert "gpus" not in document
    others = {analysis.id for analysis in analyses()} - {"kernel_summary"}
    assert {entry["id"]: entry["reason"] for entry in document["skipped"]} == dict.fromkeys(
        others, "not asked for with --only"
    )


def test_short_names_mean_the_same_analyses() -> None:
    _report()

    short = _run_json("step.sqlite", "--only", "partition,gaps,kernels")
    by_id = _run_json("step.sqlite", "--only", "gpu_time,idle_gaps,kernel_summary")

    assert "gpus" in short
    assert {key: short[key] for key in short if key not in {"options", "created_utc"}} == {
        key: by_id[key] for key in by_id if key not in {"options", "created_utc"}
    }


def test_fail_on_does_not_judge_a_part_of_the_analyses(capsys: pytest.CaptureFixture[str]) -> None:
    _report()

    code, complaint = _complaint(capsys, "step.sqlite", "--only", "gpu_time", "--fail-on", "info")

    assert (code, "--fail-on judges all analyses" in complaint) == (2, True)


def test_an_empty_path_is_not_the_working_folder(capsys: pytest.CaptureFixture[str]) -> None:
    _report()

    assert _complaint(capsys, "")[0] == 2
    assert _complaint(capsys, "step.sqlite", "-o", "")[0] == 2


def test_pages_of_folders_bear_the_whole_name() -> None:
    for name in ("llama-3.1-8b", "llama-3.2-8b"):
        Path(name).mkdir()
        _report(f"{name}/rank0.sqlite")
        assert main(["analyze", name, "-q"]) == 0

    assert sorted(path.name for path in Path().glob("*.html")) == [
        "llama-3.1-8b.nsysan.html",
        "llama-3.2-8b.nsysan.html",
    ]


def test_a_name_as_long_as_names_can_be_is_read() -> None:
    longest = _report().rename("x" * 248 + ".sqlite")

    assert main(["analyze", str(longest), "-o", "page.html", "-q"]) == 0


NOBODY_READS = "mkfifo pipe; exec 3<>pipe 4>pipe 3<&-"
"""What is written to 4 meets a pipe whose reader has left."""


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


def test_hash_is_that_of_the_whole_file() -> None:
    path = _report()

    (report,) = _run_json("step.sqlite", "--hash")["reports"]

    assert report["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert _run_json("step.sqlite")["reports"][0]["sha256"] is None


def test_identity_is_kept_only_when_asked_for_and_secrets_never() -> None:
    _report()

    without, kept = _run_json("step.sqlite"), _run_json("step.sqlite", "--keep-identity")

    assert without["provenance"]["identity"] is None
    assert kept["provenance"]["identity"][0]["host"] == "node1"
    assert "node1" not in json.dumps(without)
    assert "sk-secret" not in json.dumps(kept)


def test_epochs_beyond_the_integers_of_javascript_survive() -> None:
    _report()

    assert _run_json("step.sqlite")["reports"][0]["session_start_utc_ns"] == "1779630014975716426"  # C69


def test_the_order_of_rows_changes_no_byte() -> None:
    def document(seed: int | None) -> dict[str, Any]:
        export = Export().session(utc_epoch_ns=1)
        for start_ns in range(1000, 9000, 500):
            export.kernel(start_ns, start_ns + 300, f"k{start_ns % 3}", stream=start_ns % 2, correlation=start_ns)
            export.copy(start_ns + 100, start_ns + 350, 64, kind=1 + start_ns % 2, correlation=start_ns + 1)
        export.write(Path("rows.sqlite"), shuffle_seed=seed)
        found = _run_json("rows.sqlite")
        return {key: value for key, value in found.items() if key not in {"created_utc", "reports"}}

    assert json.dumps(document(None)) == json.dumps(document(1)) == json.dumps(document(2))  # C77


def test_two_runs_give_the_same_bytes() -> None:
    _report()
    outputs = []
    for _ in range(2):
        assert main(["analyze", "step.sqlite", "-q", "-o", "step.html", "--json", "run.json"]) == 0
        created_utc = json.loads(Path("run.json").read_text())["created_utc"].encode()
        outputs.append([Path(name).read_bytes().replace(created_utc, b"") for name in ("step.html", "run.json")])

    assert outputs[0] == outputs[1]


def test_the_same_content_twice_is_one_report_and_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    path = _report()
    Path("copy.sqlite").write_bytes(path.read_bytes())
    warning = "warning: copy.sqlite and step.sqlite have the same content: it is counted once.\n"

    document = _run_json("step.sqlite", "copy.sqlite")
    assert main(["analyze", "step.sqlite", "copy.sqlite"]) == 0
    text = capsys.readouterr().out
    assert main(["analyze", "step.sqlite", "copy.sqlite", "--json", "-"]) == 0

    assert [report["name"] for report in document["reports"]] == ["step.sqlite"]
    assert [note["id"] for note in document["notes"]] == ["same_content"]
    assert warning in text
    assert capsys.readouterr().err == f"nsysan: {warning}"
    assert "Warning: copy.sqlite and step.sqlite" in Path("step.nsysan.html").read_text()


def test_files_that_differ_only_in_the_middle_are_two_reports() -> None:
    padding = "x" * 3_000_000
    for name in ("a.sqlite", "b.sqlite"):
        Export().kernel(0, 10, padding).kernel(20, 30, name[0]).kernel(40, 50, padding[:-1]).write(Path(name))
    assert Path("a.sqlite").stat().st_size == Path("b.sqlite").stat().st_size

    assert [report["name"] for report in _run_json("a.sqlite", "b.sqlite")["reports"]] == ["a.sqlite", "b.sqlite"]


def test_a_folder_is_its_reports_in_natural_order() -> None:
    Path("ranks").mkdir()
    for rank in (10, 9):
        Export().kernel(0, 10 + rank, GEMM).write(Path(f"ranks/rank{rank}.sqlite"))
    Path("ranks/rank9.nsys-rep").write_bytes(b"the report beside its export")

    assert [report["name"] for report in _run_json("ranks")["reports"]] == ["rank9.sqlite", "rank10.sqlite"]


def test_a_folder_gives_traces_of_pytorch_too_the_unpacked_one_of_two() -> None:
    Path("ranks").mkdir()
    Export().kernel(0, 10, GEMM).write(Path("ranks/rank1.sqlite"))
    trace = {"ph": "X", "cat": "kernel", "name": GEMM, "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {}}
    text = json.dumps({"schemaVersion": 1, "traceEvents": [trace]}).encode()
    Path("ranks/rank1.pt.trace.json").write_bytes(text)
    Path("ranks/rank1.pt.trace.json.gz").write_bytes(b"damaged")
    Path("ranks/rank2.trace.json.gz").write_bytes(gzip.compress(text + b" "))
    Path("ranks/run.json").write_bytes(b"{}")

    reports = _run_json("ranks")["reports"]

    assert [(report["name"], report["reader"]) for report in reports] == [
        ("rank1.pt.trace.json", "torch_profile"),
        ("rank1.sqlite", "nsys_sqlite"),
        ("rank2.trace.json.gz", "torch_profile"),
    ]


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("rank0.pt.trace.json", "rank0.nsysan.html"),
        ("rank0.pt.trace.json.gz", "rank0.nsysan.html"),
        ("host_17.1724066820235157909.pt.trace.json", "host_17.1724066820235157909.nsysan.html"),
        ("rank0.sqlite", "rank0.nsysan.html"),
        ("rank0.v1.sqlite", "rank0.v1.nsysan.html"),
        ("trace.json", "trace.json.nsysan.html"),
    ],
)
def test_the_page_is_named_after_the_report_without_its_format(name: str, page: str) -> None:
    _report(name)

    assert main(["analyze", name, "-q"]) == 0

    assert Path(page).exists()


def test_sixty_thousand_character_names_keep_the_page_small() -> None:
    export = Export()
    for index in range(1000):
        export.kernel(index * 10, index * 10 + 5, "x" * 60_000 + str(index % 2))
    export.write(Path("long.sqlite"))

    assert main(["analyze", "long.sqlite", "-q"]) == 0

    page = Path("long.nsysan.html").read_text()
    assert len(page) < 500_000  # C68
    assert "x" * (DISPLAY_LIMIT + 1) not in page


def test_a_bug_is_one_sentence_and_exit_4(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _report()
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
    _report()
    monkeypatch.setattr(Path, "write_bytes", lambda *_: signal.raise_signal(number))

    assert main(["analyze", "step.sqlite"]) == code
    assert [path.name for path in Path().iterdir()] == ["step.sqlite"]


def test_an_end_that_comes_after_the_files_says_that_they_are_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _report()
    monkeypatch.setattr("nsysan.cli.analyze.visible_text", lambda _: signal.raise_signal(signal.SIGINT))

    assert main(["analyze", "step.sqlite", "--json", "run.json"]) == 130
    assert capsys.readouterr().err == "nsysan: Interrupted; written by then: run.json.\n"
    assert Path("run.json").exists()


def test_a_hangup_that_is_ignored_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under nohup."""
    _report()
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


def test_the_command_alone_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert main(["--help"]) == 0
    assert main(["analyze", "--help"]) == 0

    assert "analyze" in capsys.readouterr().out


def test_rights_of_new_files_follow_the_umask() -> None:
    _report()
    old = os.umask(0o027)
    try:
        assert main(["analyze", "step.sqlite", "-q"]) == 0
    finally:
        os.umask(old)

    assert Path("step.nsysan.html").stat().st_mode & 0o777 == 0o640


def test_a_kept_export_lies_in_the_working_folder_and_only_on_request() -> None:
    _report("exported.sqlite")
    Path("reports").mkdir()
    Path("reports/rank0.nsys-rep").write_bytes(REPORT_HEAD)
    nsys = str(StandIn(Path().absolute() / "reports", copies(Path("exported.sqlite").absolute())).executable)

    assert main(["analyze", "reports/rank0.nsys-rep", "--nsys", nsys, "-q"]) == 0
    assert not Path("rank0.nsysan.sqlite").exists()

    assert main(["analyze", "reports/rank0.nsys-rep", "--nsys", nsys, "-q", "--keep-export"]) == 0
    assert {path.name for path in Path().iterdir()} == {
        "exported.sqlite",
        "rank0.nsysan.html",
        "rank0.nsysan.sqlite",
        "reports",
    }

    Path("rank0.nsysan.sqlite").write_text("mine")
    assert main(["analyze", "reports/rank0.nsys-rep", "--nsys", nsys, "-q", "--keep-export", "--force"]) == 2
    assert Path("rank0.nsysan.sqlite").read_text() == "mine"


def test_a_folder_of_tables_is_analysed_like_the_export() -> None:
    table_folders = pytest.importorskip("tests.ingest.table_folders", reason="pyarrow is not installed")
    export = _report()
    table_folders.as_folder(export, Path("step_pqtdir"), ".parquet")

    documents = [_run_json(report) for report in ("step.sqlite", "step_pqtdir")]

    for document in documents:
        del document["created_utc"]
        # what tells the two inputs apart
        for key in ("name", "reader", "fingerprint", "size_bytes"):
            del document["reports"][0][key]
    assert documents[1] == documents[0]


def test_a_file_of_a_folder_of_tables_is_never_written_over() -> None:
    table_folders = pytest.importorskip("tests.ingest.table_folders", reason="pyarrow is not installed")
    folder = table_folders.as_folder(_report(), Path("step_pqtdir"), ".parquet")
    table = folder / "StringIds.parquet"
    before = table.read_bytes()

    assert main(["analyze", "step_pqtdir", "--json", str(table), "--force"]) == 2
    assert table.read_bytes() == before
