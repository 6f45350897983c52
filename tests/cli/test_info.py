"""``nsysan info`` and ``nsysan record-help`` as a user meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from nsysan.cli.main import main
from nsysan.ingest.nsys.questions import QUESTIONS, Question
from nsysan.ingest.torch.questions import TORCH_QUESTIONS, TorchQuestion
from nsysan.model.contents import Contents, Installation
from nsysan.synth.export import Export
from tests.project.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

TRACES = Path(__file__).parents[3] / "shared" / "traces"
EXPORTS = sorted(TRACES.glob("*.sqlite"))
SECRET = "sk-" + "0123456789"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _report() -> Export:
    export = Export().session(utc_epoch_ns=1_779_630_014_975_716_426, duration_ns=2_500_000).host("node1")
    export.environment("WANDB_API_KEY", SECRET).gpu().gpu(1).cuda_device().nvtx(0, 60_000, "loop")
    export.sql("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', '/home/alice/train.py')")
    export.sql(f"INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_0', '--token={SECRET}')")
    export.sql("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:USER_NAME', 'alice')")
    export.sql(f"INSERT INTO StringIds VALUES (9000, 'WANDB_API_KEY={SECRET}')")
    export.kernel(10_000, 40_000, "gemm").kernel(50_000, 90_000, "gemm")
    return export.sql("UPDATE PROCESSES SET name = '/home/alice/bin/python3'")


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["info", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_a_screen_of_facts(capsys: pytest.CaptureFixture[str]) -> None:
    size = _report().write("step.sqlite").stat().st_size

    printed = _printed(capsys, "step.sqlite")

    facts, devices, rows, questions = printed.split("\n\n")
    assert facts.splitlines() == [
        f"Report: step.sqlite, {size / 1000:.3f} kB, exported by nsys 2026.2.1.210, schema 3.25.0",
        "Capture: 2.500 ms, begun 2026-05-24 13:40:14 UTC",
        "Hosts: 1",
        "Processes: 100; nsys saw 1",
        "GPUs: 2 x NVIDIA H100 80GB HBM3 (132 SMs, 85.029 GB)",
        "GPU work: from 0.000010000s to 0.000090000s, 80.000 µs",
        "NVTX: 1 range; by domain: default 1",
        "Ranges: loop 1",
        "Communicators: not recorded",
    ]
    assert devices.splitlines() == [
        "Device                 records  first begins     last ends",
        "process 100, device 0        2  0.000010000s  0.000090000s",
    ]
    assert rows.startswith("Rows: META_DATA_EXPORT 19; META_DATA_CAPTURE 6; StringIds 3; ")
    assert questions.splitlines()[:2] == [
        "Not answered by this report:",
        "- What did an idle GPU wait for? Record with -t cuda.",
    ]
    assert questions.splitlines()[-1] == "The whole command line: nsysan record-help"
    assert len(printed.splitlines()) <= 40
    assert all(len(line) <= 100 for line in printed.splitlines())


def test_a_report_without_gpu_work_is_told_about_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    Export().session(duration_ns="absent").write("empty.sqlite")

    printed = _printed(capsys, "empty.sqlite")

    assert "Capture: length not recorded, begun 2023-11-14 22:13:20 UTC\n" in printed
    assert "GPUs: not recorded\nGPU work: not recorded\nNVTX: not recorded\nCommunicators: not recorded\n" in printed
    assert "- Where did the GPUs' time go, and how much communication was hidden? Record with -t cuda.\n" in printed


def test_json_is_the_same_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    _report().write("step.sqlite")

    document: dict[str, Any] = json.loads(_printed(capsys, "step.sqlite", "--json"))

    assert document["devices"] == [
        {"pid": 100, "device_id": 0, "record_count": 2, "start_ns": 10_000, "end_ns": 90_000}
    ]
    assert document["session_start_utc_ns"] == "1779630014975716426"
    assert document["open_questions"][0] == {
        "id": "idle_causes",
        "question": "What did an idle GPU wait for?",
        "reason": "it holds no CUDA calls",
        "recapture": "-t cuda",
    }


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_identity_is_shown_only_when_asked_for_and_the_environment_never(
    capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    _report().write("step.sqlite")
    here = str(Path.cwd())

    without = _printed(capsys, "step.sqlite", *form)
    kept = _printed(capsys, str(Path("step.sqlite").absolute()), "--keep-identity", *form)

    names = ("node1", "alice", "python3", "train.py", here, SECRET)
    assert [name for name in names if name in without] == []
    assert [name for name in names if name in kept] == list(names)
    assert "WANDB_API_KEY" not in kept


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_hostile_names_move_no_cursor(capsys: pytest.CaptureFixture[str], form: tuple[str, ...]) -> None:
    hostile = "\x1b[2J\u202e\r\n" + "x" * 100_000
    export = Export().host(hostile).gpu(name=hostile).nvtx(0, 9, hostile).nvtx_domain(1, hostile)
    export.nvtx(0, 9, "y", domain=1).kernel(0, 9, hostile).sql(f"UPDATE PROCESSES SET name = '{hostile}'")
    export.sql(f'CREATE TABLE "{hostile[:300]}" (x)').write("hostile.sqlite")

    printed = _printed(capsys, "hostile.sqlite", "--keep-identity", *form)

    assert all(line.isprintable() for line in printed.splitlines())
    assert len(printed) < 40_000


@pytest.mark.parametrize("value", ["-1", "9223372036854775807", "NULL", "'soon'"])
def test_a_start_that_is_no_time_is_not_shown_as_one(capsys: pytest.CaptureFixture[str], value: str) -> None:
    Export().sql(f"UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = {value}").write("odd.sqlite")

    printed = _printed(capsys, "odd.sqlite")

    begun = "1969-12-31 23:59:59 UTC" if value == "-1" else "2262-04-11 23:47:16 UTC"
    assert f"begun {begun if value.lstrip('-').isdigit() else 'at a time that was not recorded'}" in printed


def test_many_devices_and_tables_stay_on_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    export = Export()
    for pid in range(100, 164):
        export.kernel(0, 9, "k", pid=pid).nvtx(0, 9, f"range {pid}", pid=pid)
    export.write("many.sqlite")

    printed = _printed(capsys, "many.sqlite")

    assert "and 56 more devices\n" in printed
    assert "100, 101, 102, 103, 104, 105, 106, 107 and 56 more; nsys saw 64\n" in printed
    assert len(printed.splitlines()) <= 50


@pytest.mark.skipif(not EXPORTS, reason="the shared real exports are not beside this checkout")
@pytest.mark.parametrize("export", EXPORTS, ids=lambda path: path.stem)
def test_real_exports(capsys: pytest.CaptureFixture[str], export: Path) -> None:
    printed = _printed(capsys, str(export))

    assert len(printed.splitlines()) <= 50
    assert all(len(line) <= 100 for line in printed.splitlines())
    assert json.loads(_printed(capsys, str(export), "--json"))["name"] == export.name


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "nsysan info takes a report, or --self."),
        (("step.sqlite", "--self"), "nsysan info takes a report, or --self."),
        (("--self", "--keep-identity"), "--keep-identity is about a report."),
        (("",), "the path is empty."),
        (("nowhere.sqlite",), "There is no file nowhere.sqlite."),
        (("text.sqlite",), "text.sqlite is no Nsight Systems report or export but text"),
    ],
)
def test_what_does_not_fit_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    Path("text.sqlite").write_text("nothing")

    assert main(["info", *arguments]) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert len(captured.err.splitlines()) >= 2


def test_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    content = _report().write("step.sqlite").read_bytes()

    _printed(capsys, "step.sqlite")

    assert [path.name for path in Path().iterdir()] == ["step.sqlite"]
    assert Path("step.sqlite").read_bytes() == content


def test_self(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _printed(capsys, "--self").splitlines()
    document = json.loads(_printed(capsys, "--self", "--json"))

    names = [line.partition(":")[0] for line in lines]
    assert names[:3] == ["nsysan", "Python", "Cores"]
    assert [name for name in names if name == "Reader"] == ["Reader"] * len(document["readers"])
    assert {"nsys", "Extra", "GPU"} <= set(names)
    assert document["python_version"] in lines[1]


def test_every_key_is_explained() -> None:
    explained = set(re.findall(r"`(\w+)", (ROOT / "docs" / "info.md").read_text("utf-8")))

    assert sorted(_keys() - explained) == []


@pytest.mark.parametrize(
    ("heading", "questions"), [("What is asked", QUESTIONS), ("What is asked of PyTorch's profiler", TORCH_QUESTIONS)]
)
def test_every_question_is_explained(heading: str, questions: Sequence[Question | TorchQuestion]) -> None:
    _, _, asked = (ROOT / "docs" / "info.md").read_text("utf-8").partition(f"## {heading}\n")
    asked, _, _ = asked.partition("\n## ")

    assert re.findall(r"^\| `(\w+)` \|", asked, re.MULTILINE) == [question.id for question in questions]


def _keys() -> set[str]:
    _, definitions = msgspec.json.schema_components([Contents, Installation])
    return {key for shape in definitions.values() for key in shape.get("properties", ())}


def test_record_help_prints_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record-help", "--launcher", "srun", "--question", "memory", "--steps", "3:7"]) == 0

    printed = capsys.readouterr().out
    assert "  srun nsys profile \\\n    -t cuda,nvtx \\\n" in printed
    assert "-o report_%q{SLURM_PROCID}" in printed
    assert "  if step == 3: torch.cuda.profiler.start()\n" in printed


@pytest.mark.parametrize("steps", ["7", "7:7", "7:3", "a:b", "-1:3", "1:2:3"])
def test_steps_that_are_none_are_refused(capsys: pytest.CaptureFixture[str], steps: str) -> None:
    assert main(["record-help", f"--steps={steps}"]) == 2

    assert "10:15 records the steps 10 to 14" in capsys.readouterr().err
