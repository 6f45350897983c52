"""Where results cannot be written a command says so before it reads anything, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.ingest import reading
from nsysan.pipeline import report_tasks
from nsysan.synth.export import Export
from tests.ingest.permissions import as_nobody

COMMANDS = [
    ("analyze", "a.sqlite", "-o"),
    ("analyze", "a.sqlite", "--json"),
    ("compare", "a.sqlite", "b.sqlite", "-o"),
    ("compare", "a.sqlite", "b.sqlite", "--json"),
    ("history", "add", "a.sqlite", "--store"),
]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NSYSAN_HISTORY", raising=False)
    for name in ("a", "b"):
        Export().kernel(0, 60, name).write(Path(f"{name}.sqlite"))


@pytest.fixture(autouse=True)
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the reports that were read."""
    names: list[str] = []

    def noted(path: Path, options: reading.ReadOptions) -> object:
        names.append(path.name)
        return reading.read_trace(path, options)

    monkeypatch.setattr(report_tasks, "read_trace", noted)
    return names


def _everything() -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("place", ["missing/out", "mine", "folder"])
def test_a_place_that_cannot_be_had_is_refused_first(
    command: tuple[str, ...], place: str, read: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine").write_text("my notes, of more than a few bytes")
    Path("folder").mkdir()
    before = _everything()

    assert main([*command, place]) == 2

    assert place in capsys.readouterr().err
    assert (read, _everything()) == ([], before)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_folder_that_may_not_be_written_is_refused_first(command: tuple[str, ...], read: list[str]) -> None:
    Path("closed").mkdir(mode=0o755)
    before = _everything()

    with as_nobody():
        assert main([*command, "closed/out"]) == 2

    assert (read, _everything()) == ([], before)


@pytest.mark.parametrize("command", COMMANDS[:4], ids=" ".join)
def test_a_good_place_holds_only_the_output(command: tuple[str, ...], read: list[str]) -> None:
    before = _everything()

    assert main([*command, "out"]) == 0

    assert read
    assert _everything().keys() - before.keys() == {"out"}
