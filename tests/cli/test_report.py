"""The report command on a run.json that somebody has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from nsysan.cli.main import main
from nsysan.synth.export import Export


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _document() -> dict[str, Any]:
    Export().kernel(0, 10, "a").kernel(20, 30, "b").write(Path("step.sqlite"))
    assert main(["analyze", "step.sqlite", "--json", "run.json", "-q"]) == 0
    document: dict[str, Any] = json.loads(Path("run.json").read_text())
    return document


def _drawn(document: dict[str, Any], *arguments: str) -> int:
    Path("changed.json").write_text(json.dumps(document))
    return main(["report", "changed.json", *arguments])


def test_texts_that_were_made_hostile_are_made_safe_again(capsys: pytest.CaptureFixture[str]) -> None:
    document = _document()
    document["gaps"][0]["after"] = "\x1b[31m\u202ekernel\x07"
    capsys.readouterr()

    assert _drawn(document, "--format", "text") == 0

    output = capsys.readouterr().out
    assert "\\x1b[31m\\u202ekernel\\x07" in output
    assert not {"\x1b", "\u202e", "\x07"} & set(output)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["job"]["time"].pop("idle"),
        lambda document: document.update(kernel_classes=[]),
        lambda document: document.update(gpus=[]),
        lambda document: document["devices"][0].update(report=-(2**63)),
        lambda document: document["gpus"][0].update(window_start_ns="soon"),
        lambda document: document["gpus"][0]["time"].update(idle_ns=-5),
        lambda document: document["gpus"][0]["time"].update(idle_ns=11),
        lambda document: document["gpus"][0].update(window_end_ns=31),
        lambda document: document["devices"][0]["time"].update(compute_only_ns=2**70),
    ],
)
def test_parts_that_do_not_fit_each_other_are_one_sentence(capsys: pytest.CaptureFixture[str], change: Any) -> None:
    document = _document()
    change(document)
    capsys.readouterr()

    assert _drawn(document) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Make it" in captured.err
    assert not Path("changed.nsysan.html").exists()


def test_what_is_no_file_is_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")

    for path in ("pipe", "/dev/zero", ".", "missing.json", "x" * 300):
        assert main(["report", path]) == 2

    assert "pipe is no file." in capsys.readouterr().err


def test_a_text_is_recognised_as_nsysan_s_own() -> None:
    _document()

    for _ in range(2):
        assert main(["report", "run.json", "--format", "text", "-o", "verdict.txt"]) == 0
