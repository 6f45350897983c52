"""The analyze command as a user meets it: files, exit codes, refusals."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from nsysan.analysis.registry import analyses
from nsysan.cli.main import main
from nsysan.model.text import DISPLAY_LIMIT
from nsysan.synth.export import Export
from tests.cli.analyzing import GEMM, refused, run_json, write_report
from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn, copies

pytestmark = pytest.mark.usefixtures("own_folder")


def test_the_page_lies_in_the_working_folder_and_its_path_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()

    assert main(["analyze", "step.sqlite"]) == 0

    output = capsys.readouterr().out
    assert output.splitlines()[-1] == "Page: step.nsysan.html"
    assert len(output.splitlines()) <= 40
    assert sorted(path.name for path in Path().iterdir()) == ["step.nsysan.html", "step.sqlite"]


def test_json_alone_writes_no_page() -> None:
    write_report()

    assert main(["analyze", "step.sqlite", "--json", "run.json"]) == 0

    assert sorted(path.name for path in Path().iterdir()) == ["run.json", "step.sqlite"]


def test_json_and_page_are_both_written_when_both_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()

    assert main(["analyze", "step.sqlite", "--json", "run.json", "-o", "page.html", "-q"]) == 0

    assert capsys.readouterr().out == "Page: page.html\nRun: run.json\n"


def test_json_to_stdout_is_nothing_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()

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
    write_report()

    (gpu,) = run_json("step.sqlite", *arguments)["gpus"]

    assert (gpu["window_start_ns"], gpu["window_end_ns"]) == window
    assert sum(gpu["time"].values()) == window[1] - window[0]


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
    write_report()

    code, complaint = refused(capsys, "step.sqlite", *arguments)

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

    code, complaint = refused(capsys, "bad.sqlite")

    assert code == 2
    assert sentence.lower() in complaint.lower()
    assert len(complaint.splitlines()) >= 2  # T17: the sentence, and what to do next


@pytest.mark.parametrize(("threshold", "code"), [("info", 1), ("warning", 1), ("critical", 0)])
def test_fail_on_judges_after_writing(threshold: str, code: int) -> None:
    write_report()  # 40 of 70 µs of kernel time are unclassified: a warning

    assert main(["analyze", "step.sqlite", "--json", "run.json", "--fail-on", threshold]) == code

    assert Path("run.json").exists()


def test_a_trace_without_gpu_work_is_fine_unless_it_must_be_judged(capsys: pytest.CaptureFixture[str]) -> None:
    Export().nvtx(0, 10, "step").write(Path("cpu.sqlite"))

    assert main(["analyze", "cpu.sqlite", "-q"]) == 0
    assert main(["analyze", "cpu.sqlite", "-q", "--fail-on", "info"]) == 5
    assert "the trace holds no GPU work" in capsys.readouterr().err


def test_only_runs_what_was_asked_for() -> None:
    write_report()

    document = run_json("step.sqlite", "--only", "kernel_summary")

    assert "kernels" in document
    assert "gpus" not in document
    others = {analysis.id for analysis in analyses()} - {"kernel_summary"}
    assert {entry["id"]: entry["reason"] for entry in document["skipped"]} == dict.fromkeys(
        others, "not asked for with --only"
    )


def test_short_names_mean_the_same_analyses() -> None:
    write_report()

    short = run_json("step.sqlite", "--only", "partition,gaps,kernels")
    by_id = run_json("step.sqlite", "--only", "gpu_time,idle_gaps,kernel_summary")

    assert "gpus" in short
    assert {key: short[key] for key in short if key not in {"options", "created_utc"}} == {
        key: by_id[key] for key in by_id if key not in {"options", "created_utc"}
    }


def test_fail_on_does_not_judge_a_part_of_the_analyses(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()

    code, complaint = refused(capsys, "step.sqlite", "--only", "gpu_time", "--fail-on", "info")

    assert (code, "--fail-on judges all analyses" in complaint) == (2, True)


def test_an_empty_path_is_not_the_working_folder(capsys: pytest.CaptureFixture[str]) -> None:
    write_report()

    assert refused(capsys, "")[0] == 2
    assert refused(capsys, "step.sqlite", "-o", "")[0] == 2


def test_pages_of_folders_bear_the_whole_name() -> None:
    for name in ("llama-3.1-8b", "llama-3.2-8b"):
        Path(name).mkdir()
        write_report(f"{name}/rank0.sqlite")
        assert main(["analyze", name, "-q"]) == 0

    assert sorted(path.name for path in Path().glob("*.html")) == [
        "llama-3.1-8b.nsysan.html",
        "llama-3.2-8b.nsysan.html",
    ]


def test_a_name_as_long_as_names_can_be_is_read() -> None:
    longest = write_report().rename("x" * 248 + ".sqlite")

    assert main(["analyze", str(longest), "-o", "page.html", "-q"]) == 0


def test_hash_is_that_of_the_whole_file() -> None:
    path = write_report()

    (report,) = run_json("step.sqlite", "--hash")["reports"]

    assert report["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert run_json("step.sqlite")["reports"][0]["sha256"] is None


def test_identity_is_kept_only_when_asked_for_and_secrets_never() -> None:
    write_report()

    without, kept = run_json("step.sqlite"), run_json("step.sqlite", "--keep-identity")

    assert without["provenance"]["identity"] is None
    assert kept["provenance"]["identity"][0]["host"] == "node1"
    assert "node1" not in json.dumps(without)
    assert "sk-secret" not in json.dumps(kept)


def test_epochs_beyond_the_integers_of_javascript_survive() -> None:
    write_report()

    assert run_json("step.sqlite")["reports"][0]["session_start_utc_ns"] == "1779630014975716426"  # C69


def test_the_order_of_rows_changes_no_byte() -> None:
    def document(seed: int | None) -> dict[str, Any]:
        export = Export().session(utc_epoch_ns=1)
        for start_ns in range(1000, 9000, 500):
            export.kernel(start_ns, start_ns + 300, f"k{start_ns % 3}", stream=start_ns % 2, correlation=start_ns)
            export.copy(start_ns + 100, start_ns + 350, 64, kind=1 + start_ns % 2, correlation=start_ns + 1)
        export.write(Path("rows.sqlite"), shuffle_seed=seed)
        found = run_json("rows.sqlite")
        return {key: value for key, value in found.items() if key not in {"created_utc", "reports"}}

    assert json.dumps(document(None)) == json.dumps(document(1)) == json.dumps(document(2))  # C77


def test_two_runs_give_the_same_bytes() -> None:
    write_report()
    outputs = []
    for _ in range(2):
        assert main(["analyze", "step.sqlite", "-q", "-o", "step.html", "--json", "run.json"]) == 0
        created_utc = json.loads(Path("run.json").read_text())["created_utc"].encode()
        outputs.append([Path(name).read_bytes().replace(created_utc, b"") for name in ("step.html", "run.json")])

    assert outputs[0] == outputs[1]


def test_the_same_content_twice_is_one_report_and_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    path = write_report()
    Path("copy.sqlite").write_bytes(path.read_bytes())
    warning = "warning: copy.sqlite and step.sqlite have the same content: it is counted once.\n"

    document = run_json("step.sqlite", "copy.sqlite")
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

    assert [report["name"] for report in run_json("a.sqlite", "b.sqlite")["reports"]] == ["a.sqlite", "b.sqlite"]


def test_a_folder_is_its_reports_in_natural_order() -> None:
    Path("ranks").mkdir()
    for rank in (10, 9):
        Export().kernel(0, 10 + rank, GEMM).write(Path(f"ranks/rank{rank}.sqlite"))
    Path("ranks/rank9.nsys-rep").write_bytes(b"the report beside its export")

    assert [report["name"] for report in run_json("ranks")["reports"]] == ["rank9.sqlite", "rank10.sqlite"]


def test_a_folder_gives_traces_of_pytorch_too_the_unpacked_one_of_two() -> None:
    Path("ranks").mkdir()
    Export().kernel(0, 10, GEMM).write(Path("ranks/rank1.sqlite"))
    trace = {"ph": "X", "cat": "kernel", "name": GEMM, "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {}}
    text = json.dumps({"schemaVersion": 1, "traceEvents": [trace]}).encode()
    Path("ranks/rank1.pt.trace.json").write_bytes(text)
    Path("ranks/rank1.pt.trace.json.gz").write_bytes(b"damaged")
    Path("ranks/rank2.trace.json.gz").write_bytes(gzip.compress(text + b" "))
    Path("ranks/run.json").write_bytes(b"{}")

    reports = run_json("ranks")["reports"]

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
    write_report(name)

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


def test_the_command_alone_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert main(["--help"]) == 0
    assert main(["analyze", "--help"]) == 0

    assert "analyze" in capsys.readouterr().out


def test_a_kept_export_lies_in_the_working_folder_and_only_on_request() -> None:
    write_report("exported.sqlite")
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
    export = write_report()
    table_folders.as_folder(export, Path("step_pqtdir"), ".parquet")

    documents = [run_json(report) for report in ("step.sqlite", "step_pqtdir")]

    for document in documents:
        del document["created_utc"]
        # what tells the two inputs apart
        for key in ("name", "reader", "fingerprint", "size_bytes"):
            del document["reports"][0][key]
    assert documents[1] == documents[0]
