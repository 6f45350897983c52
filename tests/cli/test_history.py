"""The history commands, from reports to trends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.synth.export import Export

pytest.importorskip("sqlite_utils", reason="sqlite-utils is not installed")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NSYSAN_HISTORY", raising=False)
    for name, end_ns in (("first", 60), ("second", 30)):
        Export().kernel(0, end_ns, "a").kernel(90, 100, "b").write(Path(f"{name}.sqlite"))


def _output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["history", *arguments]) == 0
    return capsys.readouterr().out


def test_runs_are_kept_listed_shown_and_followed(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--baseline", "main", "--commit", "c0ffee", "--label", "who=me", "--condition", "batch=8")
    first, second = _output(capsys, "add", "first.sqlite", "second.sqlite", *arguments).split()

    listed = _output(capsys, "list").splitlines()
    shown = _output(capsys, "show", first[:6])
    trend = _output(capsys, "trend", "window_shares.computing")

    assert [line.split()[0] for line in listed] == ["Run", first, second]
    assert all("c0ffee" in line and "main" in line for line in listed[1:])
    assert f"Run {first} of first.sqlite" in shown
    assert "who: me" in shown
    assert "batch " in shown
    # 70 and 40 of 100 ns
    assert [line.split()[-2:] for line in trend.splitlines()[1:3]] == [["70.0", "%"], ["40.0", "%"]]
    assert "2 runs: too few to tell a change of level, which takes 14." in trend


def test_a_run_that_is_there_is_not_kept_twice_whatever_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    run_id = _output(capsys, "add", "first.sqlite").strip()
    assert main(["analyze", "first.sqlite", "--json", "first.json", "-q"]) == 0
    capsys.readouterr()

    assert _output(capsys, "add", "first.json") == f"{run_id} was there already\n"
    assert len(_output(capsys, "list").splitlines()) == 2


def test_the_export_has_a_line_a_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYSAN_HISTORY", "elsewhere.sqlite")
    ids = _output(capsys, "add", "first.sqlite", "second.sqlite").split()
    _output(capsys, "export", "-o", "runs.jsonl")

    runs = [json.loads(line) for line in Path("runs.jsonl").read_text().splitlines()]

    assert Path("elsewhere.sqlite").exists()
    assert [run["id"] for run in runs] == ids
    shares = {figure["key"]: figure["value"] for figure in runs[0]["snapshot"]["figures"] if figure["unit"] == "frac"}
    assert shares["computing"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["list"], "There is no history at nsysan-history.sqlite."),
        (["add", "first.sqlite", "--label", "me"], "'me' is no KEY=VALUE."),
        (["add", "none.sqlite"], "none.sqlite"),
        (["add", "first.sqlite", "--store", "first.sqlite"], "first.sqlite is no history of nsysan."),
    ],
)
def test_what_cannot_be_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert main(["history", *arguments]) == 2

    assert sentence in capsys.readouterr().err


def test_a_figure_that_no_run_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    _output(capsys, "add", "first.sqlite")

    assert main(["history", "trend", "step.mean"]) == 2

    assert "No run has a figure 'step.mean'." in capsys.readouterr().err
