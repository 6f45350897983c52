"""``nsysan report``: a saved run, drawn again."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.model.run_json import encode_run
from nsysan.report.formats.html import render_page
from nsysan.report.formats.text import render_text
from tests.report.runs import full_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a saved run in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_bytes(encode_run(full_run()))
    return tmp_path


def test_a_page_is_drawn_beside_the_work_and_its_path_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "run.json"]) == 0

    assert capsys.readouterr().out == "run.nsysan.html\n"
    assert (folder / "run.nsysan.html").read_text(encoding="utf-8") == render_page(full_run())


def test_a_text_goes_to_standard_output_and_no_file_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "run.json", "--format", "text"]) == 0

    assert capsys.readouterr().out == render_text(full_run())
    assert [path.name for path in folder.iterdir()] == ["run.json"]


def test_an_output_can_be_named(folder: Path) -> None:
    assert main(["report", "run.json", "--format", "text", "-o", "verdict.txt"]) == 0

    assert (folder / "verdict.txt").read_text(encoding="utf-8") == render_text(full_run())


def test_a_page_of_ours_is_replaced_and_any_other_file_only_by_force(folder: Path) -> None:
    other = folder / "other.html"
    other.write_text("precious", encoding="utf-8")

    assert [main(["report", "run.json"]), main(["report", "run.json"])] == [0, 0]
    assert main(["report", "run.json", "-o", "other.html"]) == 2
    assert other.read_text(encoding="utf-8") == "precious"
    assert main(["report", "run.json", "-o", "other.html", "--force"]) == 0


def test_the_saved_run_is_never_written_over(folder: Path) -> None:
    assert main(["report", "run.json", "-o", "run.json", "--force"]) == 2
    assert (folder / "run.json").read_bytes() == encode_run(full_run())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.json", None, "Cannot read missing.json"),
        ("empty.json", b"", "This is no run.json"),
        ("other.json", b"[1]", "it has no schema_version"),
        ("later.json", b'{"schema_version": 99}', "schema version 99"),
    ],
)
def test_what_is_no_saved_run_is_refused_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (folder / name).write_bytes(content)

    assert main(["report", name]) == 2
    assert message in capsys.readouterr().err
    assert not list(folder.glob("*.html"))
