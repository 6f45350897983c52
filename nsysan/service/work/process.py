"""The process that analyses: reads its order from standard input, and tells on standard output what becomes of it.

Standard input stays open as long as the server lives; where it ends, this process ends too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from io import FileIO
from types import FrameType

from nsysan.model.progress import Progress
from nsysan.model.text import display_text
from nsysan.service.work.answer import answer
from nsysan.service.work.order import Doing, Told, decode_order, encode_line

_BETWEEN_S = 0.25
_UNWIND_S = 5.0


class _Ended(BaseException):
    """The server ends this analysis, or is gone itself."""


class _Channel(Progress):
    """Tells the server what is being done, at most four times a second, and in the end what came of it."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._next_s = 0.0
        self._now = Doing("starting")

    def begin(self, doing: str, row_count: int | None = None) -> None:
        """Tell that this begins."""
        self._now = Doing(display_text(doing), row_count)
        self.tell(self._now)

    def advance(self, row_count: int) -> None:
        """Tell how far it is."""
        self._now = Doing(self._now.doing, self._now.row_count, self._now.done_count + row_count)
        if time.monotonic() >= self._next_s:
            self.tell(self._now)

    def tell(self, told: Told) -> None:
        """Tell this at once."""
        self._next_s = time.monotonic() + _BETWEEN_S
        line = encode_line(told)
        while line:
            line = line[self._file.write(line) :]


def main() -> int:
    """0 where an answer was told, whatever it says; 1 where the server wants none any more."""
    channel = _Channel(_own_output())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        signal.signal(signal.SIGTERM, _end)
        order = decode_order(sys.stdin.buffer.readline())
        threading.Thread(target=_watch_server, daemon=True).start()
        channel.tell(answer(order, channel))
    except (_Ended, BrokenPipeError):
        return 1
    return 0


def _own_output() -> FileIO:
    """Standard output, which from now on is the channel's alone: what others print goes to standard error."""
    output = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def _watch_server() -> None:
    """End this process, and with it the nsys that it may have started, when the server is gone."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_UNWIND_S)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
