"""Where the ``nsysan`` command begins: as little as possible, so that an interruption finds something to answer it."""

from __future__ import annotations

import os
import signal
from types import FrameType

from nsysan.cli.exit_codes import EXIT_INTERRUPTED


def main() -> int:
    """The exit code of the command line, as ``nsysan.cli.main`` tells it.

    Importing that takes a tenth of a second. Until then nothing is there to unwind, so an interruption ends the process
    in one sentence; one that is ignored, as under nohup, stays so.
    """
    previous = signal.getsignal(signal.SIGINT)
    if previous is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    from nsysan.cli.main import main as run

    if previous is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, previous)
    return run()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"nsysan: Interrupted; nothing was written.\n")
    os._exit(EXIT_INTERRUPTED)
