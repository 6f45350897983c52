"""Running the user's nsys so that it cannot outlive its use: it is ended when it hangs, and when we are."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from nsysan.model.errors import UsageError

PATIENCE_VARIABLE = "NSYSAN_NSYS_PATIENCE"
DEFAULT_PATIENCE_S = 600.0
BUSY_FACTOR = 6
"""Work that shows in no file may take so much longer: large reports are put in order in memory first."""
IDLE_FRAC = 0.01
"""Of one core; a process that only waits still wakes now and then."""
_POLL_S = 1.0
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_USER_TIME_FIELD, _SESSION_FIELD = 11, 3
"""Of ``/proc/PID/stat``, counted from the field after the name of the program."""


class StalledError(Exception):
    """A program did nothing that can be seen for ``stalled_s``, which was too long, and was ended."""

    def __init__(self, stalled_s: float) -> None:
        super().__init__(stalled_s)
        self.stalled_s = stalled_s


class Finished(msgspec.Struct, frozen=True):
    """How a program ended, and what it printed."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class Progress(msgspec.Struct, frozen=True):
    """What can be seen of a running program: the time, the bytes it wrote so far and the CPU time it took so far."""

    time_s: float
    written_bytes: int
    cpu_s: float | None
    """None where the system does not tell."""


class Watch:
    """Tells when a program has stalled.

    It has where for ``patience_s`` it wrote nothing and used under 1 % of a core, or for six times as long wrote
    nothing whatever it used. A patience of 0 has no end.
    """

    def __init__(self, patience_s: float, begin: Progress) -> None:
        self._patience_s = patience_s
        self._grown = begin
        self._used = begin

    def stalled_s(self, now: Progress) -> float | None:
        """For how long nothing was seen, if that is too long; None as long as there is hope."""
        if not self._patience_s:
            return None
        if now.written_bytes != self._grown.written_bytes:
            self._grown = self._used = now
        silent_s, idle_s = now.time_s - self._grown.time_s, now.time_s - self._used.time_s
        if silent_s >= BUSY_FACTOR * self._patience_s:
            return silent_s
        if idle_s < self._patience_s:
            return None
        if (
            now.cpu_s is not None
            and self._used.cpu_s is not None
            and now.cpu_s - self._used.cpu_s >= IDLE_FRAC * idle_s
        ):
            self._used = now
            return None
        return idle_s


def export_patience_s() -> float:
    """How long an export may stand still. Raises UsageError where the environment says something else than seconds."""
    given = os.environ.get(PATIENCE_VARIABLE) or str(DEFAULT_PATIENCE_S)
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"{PATIENCE_VARIABLE} is no number of seconds.", "Set it to seconds, 0 for no end.")
    return seconds


def run(
    command: Sequence[str], patience_s: float, *, folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> Finished:
    """What became of the program, which writes into ``folder``.

    It and all it started are ended where it stalls, which ``Watch`` tells by ``patience_s``, and where we are
    interrupted. Raises StalledError for the first, OSError where it cannot be started.
    """
    with _started(command, folder, variables or {}) as process:
        watch = Watch(patience_s, Progress(time.monotonic(), written_bytes=0, cpu_s=0.0))
        while True:
            try:
                stdout, stderr = process.communicate(timeout=min(_POLL_S, patience_s / 4 or _POLL_S))
            except subprocess.TimeoutExpired:
                if (stalled_s := watch.stalled_s(_progress(process, folder))) is not None:
                    raise StalledError(stalled_s) from None
                continue
            return Finished(process.returncode, stdout, stderr)


@contextmanager
def _started(
    command: Sequence[str], folder: Path | None, variables: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """The program in a session of its own, which is killed as a whole unless the program has ended by itself."""
    process = None
    try:
        with _signals_held():
            process = subprocess.Popen(  # noqa: S603 -- the user's own nsys
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**os.environ, **variables},
                start_new_session=True,
            )
        yield process
    except BaseException:
        if process is not None:
            _kill(process)
        raise


def _kill(process: subprocess.Popen[bytes]) -> None:
    with process, contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals that would end us wait for the end of the body: a program must not start unknown to who ends it."""
    met: list[int] = []
    previous = {}
    if threading.current_thread() is threading.main_thread():
        # blocking them would go on in the program; handlers do not
        previous = {number: signal.signal(number, lambda number, _frame: met.append(number)) for number in _ENDING}
    try:
        yield
    finally:
        for ending, handler in previous.items():
            # None: it was not set from Python
            signal.signal(ending, signal.SIG_DFL if handler is None else handler)
        for number in met[:1]:
            signal.raise_signal(number)


def _progress(process: subprocess.Popen[bytes], folder: Path | None) -> Progress:
    return Progress(time.monotonic(), 0 if folder is None else written_bytes(folder), _cpu_s(process.pid))


def written_bytes(folder: Path) -> int:
    """The size of all files below the folder; what goes away meanwhile counts as nothing."""
    # os.walk passes over folders that go away, Path.rglob does not
    return sum(_size_bytes(Path(parent, name)) for parent, _, names in os.walk(folder) for name in names)


def _size_bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _cpu_s(session_id: int) -> float | None:
    """CPU time of all processes of the session and of their children that have ended; None without ``/proc``."""
    ticks = None
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        ticks = ticks or 0
        if int(fields[_SESSION_FIELD]) == session_id:
            ticks += sum(map(int, fields[_USER_TIME_FIELD : _USER_TIME_FIELD + 4]))
    return None if ticks is None else ticks / os.sysconf("SC_CLK_TCK")
