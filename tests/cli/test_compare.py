"""The compare command: what it takes, what it writes, and with which code it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.synth.export import Export


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Export().kernel(0, 60, "a").kernel(90, 100, "b").write(Path("before.sqlite"))
    Export().kernel(0, 30, "a").kernel(90, 100, "b").write(Path("after.sqlite"))


def test_reports_and_saved_runs_of_them_compare_alike(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("before", "after"):
        assert main(["analyze", f"{name}.sqlite", "--json", f"{name}.json", "-q"]) == 0
    capsys.readouterr()

    assert main(["compare", "before.sqlite", "after.sqlite"]) == 0
    of_reports = capsys.readouterr().out
    assert main(["compare", "before.json", "after.json"]) == 0

    assert capsys.readouterr().out == of_reports
    # 70 and 40 of 100 ns
    assert "Of the window, computing \u221230.0 points" in of_reports


def test_it_writes_json_and_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "before.sqlite", "after.sqlite", "--json", "c.json", "-o", "c.html", "-q"]) == 0

    document = json.loads(Path("c.json").read_text())
    assert document["comparison"]["before"]["reports"] == ["before.sqlite"]
    assert document["sentences"][0].startswith("Of the window, computing")
    assert "<h1>Of the window, computing" in Path("c.html").read_text("utf-8")
    assert capsys.readouterr().out == "Page: c.html\nJSON: c.json\n"
    # what nsysan wrote it replaces
    assert main(["compare", "before.sqlite", "after.sqlite", "--json", "c.json", "-o", "c.html", "-q"]) == 0


def test_json_goes_to_standard_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "before.sqlite", "after.sqlite", "--json", "-"]) == 0

    assert json.loads(capsys.readouterr().out)["comparison"]["schema_version"] == 1


def test_a_run_without_gpu_work_ends_in_could_not_judge(capsys: pytest.CaptureFixture[str]) -> None:
    Export().session(duration_ns=10).write(Path("nothing.sqlite"))

    assert main(["compare", "before.sqlite", "nothing.sqlite"]) == 5

    assert "These runs cannot be compared: after, the trace holds no GPU work." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["before.sqlite", "none.json"], "none.json"),
        (["before.sqlite", "after.sqlite", "-o", "-"], "The page cannot go to standard output."),
        (["before.sqlite", "after.sqlite", "-o", "x", "--json", "x"], "The page and the JSON cannot be one file."),
        (["before.sqlite", "after.sqlite", "-o", "after.sqlite"], "after.sqlite is an input"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert main(["compare", *arguments]) == 2

    assert sentence in capsys.readouterr().err
