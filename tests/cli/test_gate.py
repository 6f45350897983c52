"""The gate command on simulated jobs: repeats of other seeds pass, a job that waits for data fails and says so."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario

pytest.importorskip("sqlite_utils", reason="sqlite-utils is not installed")


def _write(name: str, scenario: str, seed: int, *, ranks: int = 2) -> str:
    request = Request(scenario=find_scenario(scenario), rank_count=ranks, step_count=4, seed=seed)
    (export,) = generate(request).exports.values()
    return str(export.write(Path(name)))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NSYSAN_HISTORY", raising=False)


@pytest.fixture
def _baseline(capsys: pytest.CaptureFixture[str]) -> None:
    repeats = [_write(f"repeat{seed}.sqlite", "healthy", seed) for seed in range(6)]
    assert main(["history", "add", *repeats, "--baseline", "main", "--condition", "batch=8"]) == 0
    capsys.readouterr()


@pytest.mark.usefixtures("_baseline")
def test_a_repeat_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", _write("now.sqlite", "healthy", 9), "--against", "main", "--condition", "batch=8"]) == 0

    assert capsys.readouterr().out.startswith(
        "Passed against main: no loss beyond what is allowed and what chance does."
    )


@pytest.mark.usefixtures("_baseline")
def test_a_job_that_waits_for_data_fails_and_says_what_grew(capsys: pytest.CaptureFixture[str]) -> None:
    now = _write("now.sqlite", "data-bound", 9)

    assert main(["gate", now, "--against", "main", "--condition", "batch=8", "--json", "gate.json"]) == 1

    text, document = capsys.readouterr().out, json.loads(Path("gate.json").read_text())
    assert text.startswith("Failed against main: step has lost ")
    assert ": idle by data loading +" in document["sentences"][1]
    assert document["gate"]["outcome"] == "failed"
    assert document["gate"]["comparison"]["carriers"][0]["id"] == "step_idle_causes.data_loading"


@pytest.mark.usefixtures("_baseline")
@pytest.mark.parametrize(
    ("ranks", "conditions", "sentence"),
    [
        (2, ["--condition", "batch=16"], "Batch: 8 before, 16 after."),
        (2, [], "Batch: 8 before, not known after."),
        (1, ["--condition", "batch=8"], "GPU count: 2 before, 1 after."),
    ],
)
def test_runs_that_are_something_else_cannot_be_judged(
    capsys: pytest.CaptureFixture[str], ranks: int, conditions: list[str], sentence: str
) -> None:
    now = _write("now.sqlite", "healthy", 9, ranks=ranks)

    assert main(["gate", now, "--against", "main", *conditions]) == 5

    text = capsys.readouterr().out
    assert text.startswith("Cannot judge against main: the runs tell of different things.")
    assert sentence in text


@pytest.mark.usefixtures("_baseline")
def test_a_run_of_the_baseline_itself_passes_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    now = _write("now.sqlite", "healthy", 9)

    assert main(["gate", now, "repeat3.sqlite", "--against", "main", "--condition", "batch=8"]) == 0

    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("Warning")] == [
        "Warning: run 2, repeat3.sqlite, is one of the baseline's repeats, so that it passes tells nothing."
    ]


@pytest.mark.usefixtures("_baseline")
def test_a_run_that_is_given_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    now = _write("now.sqlite", "healthy", 9)
    same = Path("same.sqlite")
    same.write_bytes(Path(now).read_bytes())

    assert main(["gate", now, str(same), "--against", "main", "--condition", "batch=8"]) == 2

    assert "A run is given twice: 2 runs given, of which 1 differ." in capsys.readouterr().err


@pytest.mark.usefixtures("_baseline")
@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ("NVTX_EVENTS", "NVTX ranges"),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA calls"),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", "Memory copies"),
        ("StringIds", "Names of kernels"),
    ],
)
def test_a_run_that_lacks_a_table_cannot_be_judged(capsys: pytest.CaptureFixture[str], table: str, kind: str) -> None:
    """The step is known all the same, from the period of the kernels."""
    now = _write("now.sqlite", "healthy", 9)
    with sqlite3.connect(now) as connection:
        connection.execute(f"drop table {table}")
    connection.close()

    assert main(["gate", now, "--against", "main", "--condition", "batch=8"]) == 5

    assert f"{kind}: recorded before, not recorded after." in capsys.readouterr().out


@pytest.mark.usefixtures("_baseline")
def test_budgets_lie_in_the_folder_or_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    now = _write("now.sqlite", "healthy", 9)
    arguments = ["gate", now, "--against", "main", "--condition", "batch=8"]
    Path("nsysan.toml").write_text('[gate.figures."step.mean"]\nmax = 1.0\n')
    Path("other.toml").write_text('[gate.figures."step.mean"]\nrelative = 1.0\n')

    assert main(arguments) == 1
    assert "Step: it is over its max." in capsys.readouterr().out
    assert main([*arguments, "--budgets", "other.toml"]) == 0
    assert main([*arguments, "--budgets", "none.toml"]) == 2
    Path("nsysan.toml").write_text("[gates]\nx = 1\n")
    assert main(arguments) == 2


@pytest.mark.usefixtures("_baseline")
def test_a_baseline_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "repeat0.sqlite", "--against", "other"]) == 2

    assert "There is no baseline 'other' in nsysan-history.sqlite." in capsys.readouterr().err


@pytest.mark.usefixtures("_baseline")
def test_files_for_ci_are_written_whether_it_passes_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    now = _write("now.sqlite", "data-bound", 9)
    asked = ["--markdown", "gate.md", "--junit", "gate.xml"]

    assert main(["gate", now, "--against", "main", "--condition", "batch=8", *asked]) == 1
    # its own files are replaced
    assert main(["gate", "repeat0.sqlite", "--against", "main", "--condition", "batch=8", *asked]) == 0

    assert capsys.readouterr().out.count("Markdown: gate.md\nJUnit: gate.xml\n") == 2
    assert Path("gate.md").read_text().startswith("**Passed against main")
    assert 'tests="1" failures="0" errors="0"' in Path("gate.xml").read_text()
