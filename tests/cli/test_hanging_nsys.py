"""An nsys that hangs is ended with all it started, by its limit or with nsysan, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn

PATIENT_S = 60
_HEARING = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, "-m", "nsysan", *sys.argv[1:]])
"""
"""nsysan as from a terminal: what runs in the background of a shell, or under nohup, is born deaf to these signals."""


class Stage:
    """An nsys that starts another program, says so through a pipe that both hold, and then never ends."""

    def __init__(self, folder: Path) -> None:
        self.pipe = folder / "pipe"
        os.mkfifo(self.pipe)
        self._reading = os.open(self.pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.temporary_files = folder / "temporary files"
        self.temporary_files.mkdir()
        report = folder / "rank0.nsys-rep"
        report.write_bytes(REPORT_HEAD)
        self._sessions = folder / "sessions"
        action = f'echo $$ >> "{self._sessions}"; exec 3> "{self.pipe}"; (exec sleep 1000) & echo >&3; sleep 1000'
        self._command = [sys.executable, "-c", _HEARING, "analyze", str(report), "-o", str(folder / "page.html")]
        self._command += ["--nsys", str(StandIn(folder, action).executable)]

    def start(self, **variables: str) -> subprocess.Popen[str]:
        """``nsysan analyze`` over the report."""
        environment = {**os.environ, "TMPDIR": str(self.temporary_files), **variables}
        return subprocess.Popen(self._command, env=environment, stderr=subprocess.PIPE, text=True)

    def read(self) -> bytes:
        """What the pipe yields next: a line, or nothing once every program that held it has ended."""
        assert select.select([self._reading], [], [], PATIENT_S)[0], "nothing happened to the pipe"
        return os.read(self._reading, 1)

    def close(self) -> None:
        """Let go of the pipe, and end what a nsysan that was killed left running."""
        os.close(self._reading)
        for session in self._sessions.read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(session), signal.SIGKILL)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The report and its nsys."""
    made = Stage(tmp_path)
    yield made
    made.close()


def test_it_is_ended_where_nothing_is_seen_of_it_for_too_long(stage: Stage) -> None:
    with stage.start(NSYSAN_NSYS_PATIENCE="3") as nsysan:
        _, complaint = nsysan.communicate(timeout=PATIENT_S)

    assert nsysan.returncode == 3
    assert re.search(r"rank0.nsys-rep could not be exported: nsys wrote nothing for \d+ s and was ended\.", complaint)
    assert "set NSYSAN_NSYS_PATIENCE to more seconds (0: no end)" in complaint
    assert stage.read() == b"\n"
    assert stage.read() == b""
    assert list(stage.temporary_files.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)], ids=["TERM", "INT", "HUP"]
)
def test_it_ends_with_nsysan(stage: Stage, number: signal.Signals, code: int) -> None:
    with stage.start() as nsysan:
        assert stage.read() == b"\n"
        nsysan.send_signal(number)
        _, complaint = nsysan.communicate(timeout=PATIENT_S)

    assert (nsysan.returncode, complaint) == (code, "nsysan: Interrupted; nothing was written.\n")
    assert stage.read() == b""
    assert list(stage.temporary_files.iterdir()) == []


def test_what_a_killed_nsysan_leaves_goes_at_the_next_start(stage: Stage) -> None:
    with stage.start() as killed:
        assert stage.read() == b"\n"
        (left,) = stage.temporary_files.iterdir()
        killed.kill()
    with stage.start() as next_one:
        assert stage.read() == b"\n"
        now = list(stage.temporary_files.iterdir())
        next_one.terminate()

    assert left not in now
    assert len(now) == 1
    assert list(stage.temporary_files.iterdir()) == []


@pytest.mark.parametrize("hangs", ["exec sleep 1000", "sleep 1000 & exit 0"], ids=["itself", "what it left behind"])
@pytest.mark.parametrize("question", ["--version", "export --help"])
def test_an_nsys_that_does_not_answer_is_ended_within_its_patience(tmp_path: Path, question: str, hangs: str) -> None:
    stand_in = StandIn(tmp_path, "exit 0").executable
    stand_in.write_text(f'#!/bin/sh\nif [ "$*" = "{question}" ]; then {hangs}; fi\n{stand_in.read_text()}')
    report = tmp_path / "rank0.nsys-rep"
    report.write_bytes(REPORT_HEAD)

    ended = subprocess.run(
        [sys.executable, "-m", "nsysan", "analyze", str(report), "--nsys", str(stand_in)],
        env={**os.environ, "NSYSAN_NSYS_PATIENCE": "0.5"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENT_S,
    )

    assert ended.returncode == 3
    assert re.search(rf"nsys {question} did not end within \d+ s and was ended\.", ended.stderr)
