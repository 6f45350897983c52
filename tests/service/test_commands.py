"""``nsysan token`` and ``nsysan upload`` as they are typed, and ``nsysan serve`` where it cannot begin."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.service.serving import _listening
from nsysan.service.settings import Settings
from tests.service.running import Running


def test_tokens_are_made_listed_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ["--data", str(tmp_path / "data")]

    assert main(["token", "add", "anna", "--role", "uploader", "--team", "red", "--days", "9", *data]) == 0
    secret = capsys.readouterr().out.strip()
    assert secret.startswith("nsysan_")
    assert main(["token", "list", *data]) == 0
    listed = capsys.readouterr().out
    assert listed.startswith("anna  uploader of team red, until ")
    assert listed.endswith(", never used\n")
    assert secret not in listed
    assert main(["token", "add", "anna", *data]) == 2
    assert "There is a token 'anna' already." in capsys.readouterr().err
    assert main(["token", "revoke", "anna", *data]) == 0
    assert main(["token", "revoke", "anna", *data]) == 2
    assert "There is no token 'anna'." in capsys.readouterr().err


@pytest.mark.parametrize("command", [["list"], ["revoke", "anna"]])
def test_a_folder_that_no_server_has_is_named_and_not_made(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "dato"

    assert main(["token", *command, "--data", str(data)]) == 2
    assert f"{data} is no folder of a server." in capsys.readouterr().err
    assert not data.exists()


def test_upload_prints_the_address_waits_and_says_what_failed(
    server: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing")

    assert main(["upload", server.url, str(tmp_path / "notes.txt"), "--label", "a", "--label", "b", "--wait"]) == 2

    told = capsys.readouterr()
    assert told.out.startswith(f"{server.url}/runs/")
    assert "nsysan: notes.txt is no Nsight Systems report" in told.err
    assert server.ask("GET", told.out.strip().replace(server.url, "/api")).said["labels"] == ["a", "b"]


def test_upload_sends_the_model_and_says_ranks(
    server: Running, report: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.sqlite").write_bytes(report)
    model = tmp_path / "config.json"
    model.write_text('{"layers": 2, "hidden": 64, "heads": 2, "vocabulary": 100}')
    command = ["upload", server.url, str(tmp_path / "a.sqlite"), "--wait", "--world-size", "2"]

    assert main([*command, "--model", f"{model},sequence=32,global_batch=4", "--ranks", "a.sqlite=1"]) == 0

    run = capsys.readouterr().out.splitlines()[0].replace(server.url, "")
    options = server.ask("GET", f"{run}/run.json").said["options"]
    assert (options["ranks"], options["world_size"]) == (["a.sqlite=1"], 2)
    assert options["model"] is not None


@pytest.mark.parametrize(
    ("option", "complaint"), [(["--ranks", "a"], "is no NAME=RANK"), (["--model", "none.json"], "Cannot read")]
)
def test_upload_refuses_what_cannot_be_before_anything_is_sent(
    option: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.sqlite").write_text("x")

    assert main(["upload", "http://127.0.0.1:9", str(tmp_path / "r.sqlite"), *option]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("url", ["nonsense", "ftp://host/", "http://", "http://[x", "http://host:port/"])
def test_an_address_that_is_none_is_refused(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.sqlite").write_text("x")

    assert main(["upload", url, str(tmp_path / "r.sqlite")]) == 2
    assert "is no address of a server" in capsys.readouterr().err


def test_upload_says_at_once_that_nobody_answers(tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_text("x")
    command = [sys.executable, "-m", "nsysan", "upload", "http://127.0.0.1:9", str(tmp_path / "r.sqlite")]

    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    said = ended.stderr.splitlines()
    assert ended.returncode == 3
    assert [line.startswith("nsysan: 127.0.0.1:9 cannot be reached: ") for line in said] == [True, True, True, False]
    assert [line.endswith(end) for line, end in zip(said, ("in 0.5 s.", "in 1 s."), strict=False)] == [True, True]


def test_connections_send_what_is_small_at_once(tmp_path: Path) -> None:
    # asyncio turns Nagle's waiting off where a socket names TCP, and connections have that of the listener
    with _listening(Settings(data=tmp_path, port=0)) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_and_a_folder_that_is_a_file_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsysan.service.serving.begin_logging", lambda: None)
    (tmp_path / "file").write_text("x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", "--data", str(tmp_path / "data"), "--port", port]) == 2
    assert f"Cannot listen on 127.0.0.1, port {port}" in capsys.readouterr().err
    assert main(["serve", "--data", str(tmp_path / "file")]) == 2
    assert "Cannot write" in capsys.readouterr().err
