"""Where the ``nsysan`` command begins: as little as possible, so that an interruption finds something to answer it."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType

from nsysan.cli.exit_codes import EXIT_INTERRUPTED

_NEW_OBJECTS_A_COLLECTION = 50_000
"""A start makes some hundred thousand objects, which stay: to look them through every 700, as Python does, is waste."""


def main() -> int:
    """The exit code of the command line, as ``nsysan.cli.main`` tells it.

    Importing that takes a tenth of a second. Until then nothing is there to unwind, so an interruption ends the process
    in one sentence; one that is ignored, as under nohup, stays so.
    """
    gc.set_threshold(_NEW_OBJECTS_A_COLLECTION)
    previous = signal.getsignal(signal.SIGINT)
    if previous is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    from nsysan.cli.main import main as run

    if previous is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, previous)
    code = run()
    # what is left goes with the process: nobody need look for cycles in it
    gc.freeze()
    return code


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"nsysan: Interrupted; nothing was written.\n")
    os._exit(EXIT_INTERRUPTED)
