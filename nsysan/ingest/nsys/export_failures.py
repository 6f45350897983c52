"""What ``nsys export`` says when it fails, in words that help.

Its exit code is no guide: on a full disk it is 0. The patterns are matched against stderr, first match wins.
"""

from __future__ import annotations

import re
import signal

import msgspec

from nsysan.ingest.nsys.supervision import PATIENCE_VARIABLE
from nsysan.ingest.private_folder import MAKE_ROOM
from nsysan.model.errors import InputError, MissingToolError, NsysanError
from nsysan.model.text import display_text

_TRANSFER_AGAIN = "Copy the report again from where it was recorded; if it is the same there, record it again."
_RECORD_AGAIN = "Record it again and let nsys end by itself; a job that is killed leaves a partial report."
_UPDATE = "Update Nsight Systems, or name a newer nsys with --nsys: only a newer nsys reads newer reports."
_TRY_BY_HAND = "Try it by hand: nsys export -t sqlite REPORT"
_LARGER_MACHINE = "Memory may have run out: free some, or export it on a larger machine: nsys export -t sqlite REPORT"
_SHELL_SIGNAL = 128
"""What a shell adds to the signal that ended a program: nsys may be a script around one."""
_CRASHES = frozenset({signal.SIGILL, signal.SIGABRT, signal.SIGFPE, signal.SIGSEGV})


class _Failure(msgspec.Struct, frozen=True):
    pattern: str
    error: type[NsysanError]
    says: str
    """The end of a sentence that begins with the report's name."""
    hint: str


_FAILURES = (
    _Failure(
        "database or disk is full|No space left|Error writing bytes",
        MissingToolError,
        "could not be exported: there is no room for temporary files",
        MAKE_ROOM,
    ),
    _Failure(
        "newer than your current version|Version number is invalid",
        InputError,
        "was recorded by a newer nsys than the one at hand",
        _UPDATE,
    ),
    _Failure(
        "Cannot read from stream", InputError, "ends in its first bytes: the capture did not finish", _RECORD_AGAIN
    ),
    _Failure("(?i:section table)", InputError, "is cut off or damaged at its end", _TRANSFER_AGAIN),
    _Failure(
        "decompression failed|Unsupported compression|ProtobufParseException|Section is out of order|section is absent",
        InputError,
        "is damaged inside",
        _TRANSFER_AGAIN,
    ),
    _Failure(
        "[Ww]rong event order|(?i:(non-|not )monotonic)",
        InputError,
        "holds events in an order that this nsys refuses",
        "Export it with a newer nsys, 2024.2 or later; or record a shorter stretch of the job.",
    ),
    _Failure(
        "bad_alloc|Cannot allocate memory",
        MissingToolError,
        "could not be exported: nsys ran out of memory",
        _LARGER_MACHINE,
    ),
    _Failure(
        "error while loading shared libraries",
        MissingToolError,
        "could not be exported: nsys lacks libraries that it needs",
        "Install Nsight Systems anew, or name another nsys with --nsys.",
    ),
    _Failure("Invalid version prefix", InputError, "does not begin as a report does", _TRANSFER_AGAIN),
    _Failure(
        "Permission denied", InputError, "may not be read by nsys", "Ask its owner for read permission, or copy it."
    ),
    _Failure("File not found", InputError, "was gone when nsys came to read it", "Check the path, then try again."),
    _Failure(
        "unable to open database file",
        MissingToolError,
        "could not be exported: nsys cannot write to the folder for temporary files",
        "Set TMPDIR to a folder that can be written.",
    ),
    _Failure(
        "database is locked",
        MissingToolError,
        "could not be exported: the file system of the temporary folder cannot lock files",
        "Set TMPDIR to a local folder.",
    ),
    _Failure(
        "File already exists",
        MissingToolError,
        "could not be exported: a file of another program is in the way",
        "Try again.",
    ),
)


def failure_of(shown_name: str, exit_code: int, stderr: str) -> NsysanError | None:
    """The error behind an export of the report, or None where it went well: exit code 0 and nothing said."""
    for failure in _FAILURES:
        if re.search(failure.pattern, stderr):
            return failure.error(f"{shown_name} {failure.says}.", failure.hint)
    signal_number = -exit_code if exit_code < 0 else exit_code - _SHELL_SIGNAL
    if signal_number > 0:
        return _ended_by(shown_name, signal_number)
    said = stderr.strip()
    if exit_code == 0 and not said:
        return None
    first_line = display_text(said.partition("\n")[0]) or "it did not say why"
    return InputError(f"nsys could not export {shown_name} (exit code {exit_code}): {first_line}", _TRY_BY_HAND)


def stall_of(shown_name: str, stalled_s: float) -> MissingToolError:
    """The error behind an export that was ended because nothing of it was seen for so long."""
    return MissingToolError(
        f"{shown_name} could not be exported: nsys wrote nothing for {stalled_s:.0f} s and was ended.",
        f"{_TRY_BY_HAND}; where it is only slow, set {PATIENCE_VARIABLE} to more seconds (0: no end).",
    )


def _ended_by(shown_name: str, signal_number: int) -> NsysanError:
    if signal_number in _CRASHES:
        return InputError(f"{shown_name} made nsys crash (signal {signal_number}).", _TRANSFER_AGAIN)
    return MissingToolError(
        f"{shown_name} could not be exported: nsys was ended by signal {signal_number}.",
        _LARGER_MACHINE if signal_number == signal.SIGKILL else _TRY_BY_HAND,
    )
