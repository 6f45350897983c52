"""Why an analysis ended without an answer, as a sentence."""

from __future__ import annotations

import signal

from nsysan.service.work.order import Failed

_TOO_LARGE = "Record fewer steps, or ask whoever runs the server for more."
_REPORT_IT = "Please report it, with the file if you may."


def ending_of(exit_code: int, cpu_s: int) -> Failed:
    """What to tell of a process that ended so, or was ended by the system, without a word."""
    if exit_code == -signal.SIGXCPU:
        return Failed(f"The analysis took more than the {cpu_s} s of CPU time that it may take here.", _TOO_LARGE)
    if exit_code == -signal.SIGXFSZ:
        return Failed("The analysis wrote a larger file than it may here.", _TOO_LARGE)
    if exit_code == -signal.SIGKILL:
        return Failed("The system ended the analysis, most likely because memory was short.", _TOO_LARGE)
    how = f"by signal {-exit_code}" if exit_code < 0 else f"with code {exit_code}"
    return Failed(f"The analysis ended {how}, and did not say why.", _REPORT_IT)


def out_of_disk(disk_bytes: int) -> Failed:
    """What to tell of one that was ended for what it wrote."""
    return Failed(f"The analysis wrote more than the {disk_bytes} bytes that it may here.", _TOO_LARGE)


NO_DISK_LEFT = Failed("The server's disk is too full to go on.", "Ask whoever runs it to make room, then try again.")

GIVEN_UP = Failed("The server could not go on with this run.", "Ask whoever runs it to look into its log, then retry.")


def out_of_time(wall_s: float) -> Failed:
    """What to tell of one that did not end."""
    return Failed(f"The analysis did not end within {wall_s:.0f} s.", _TOO_LARGE)
