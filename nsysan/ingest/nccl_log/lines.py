"""NCCL's lines out of a log: who wrote each and what it says, whatever a launcher or a terminal put around it.

``host:pid:tid [device] NCCL INFO message`` stands after prefixes of launchers and time stamps, coloured or not, and
where ranks write at once, several in one line. Lines with a bus bandwidth are handed on too: programs write them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from nsysan.model.nccl_log import LogOrigin

LONGEST_LINE_BYTES = 1 << 20
"""What is longer is read in pieces: no line of NCCL is, and none may fill the memory."""
_MARK = b"NCCL"
_TIMED = re.compile(rb"[Bb]us_?[Bb][Ww]")
_PREFIX = re.compile(
    rb":(?P<pid>[0-9]{1,10}):(?P<tid>[0-9]{1,10}) \[(?P<device>[0-9]{1,4})\] "
    rb"(?:[^ ]{1,120} ){0,3}?NCCL (?P<level>INFO|WARN|TRACE|VERSION|ABORT|ERROR) ?"
)
_HOST_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_HOST = 255
_MOST_ALIKE = 256
"""So many hosts have a process of one number, at most, among which a name may be one with something before it."""
_BARE_PREFIX = re.compile(rb"NCCL (?P<level>INFO|WARN) |(?=NCCL version [0-9])")
_COLOUR = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


class LogLine(msgspec.Struct, frozen=True):
    """One message; ``origin`` and ``tid`` are None where the prefix was cut off. ``number`` counts lines from 1."""

    number: int
    origin: LogOrigin | None
    tid: int | None
    is_warning: bool
    message: str


class LogLines:
    """The messages of a file, in its order. ``line_count`` grows as they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._origins: dict[tuple[bytes, bytes, bytes], LogOrigin] = {}
        self._hosts: defaultdict[tuple[bytes, bytes], list[bytes]] = defaultdict(list)
        self.line_count = 0

    def __iter__(self) -> Iterator[LogLine]:
        for piece in iter(lambda: self._file.readline(LONGEST_LINE_BYTES), b""):
            self.line_count += 1
            if _MARK in piece or _TIMED.search(piece) is not None:
                yield from self._messages(_COLOUR.sub(b"", piece) if b"\x1b" in piece else piece)

    def _messages(self, piece: bytes) -> Iterator[LogLine]:
        """Every message in one line: where several ranks wrote it at once, each up to the next one's prefix."""
        found = list(_PREFIX.finditer(piece))
        if not found:
            yield from self._bare(piece)
            return
        hosts = [_host_before(piece, prefix.start()) for prefix in found]
        ends = [prefix.start() - len(host) for prefix, host in zip(found, hosts, strict=True)][1:]
        for prefix, host, end in zip(found, hosts, [*ends, len(piece)], strict=True):
            yield LogLine(
                number=self.line_count,
                origin=self._origin(host, prefix["pid"], prefix["device"]),
                tid=int(prefix["tid"]),
                is_warning=prefix["level"] == b"WARN",
                message=_text(piece[prefix.end() : end]),
            )

    def _bare(self, piece: bytes) -> Iterator[LogLine]:
        prefix = _BARE_PREFIX.search(piece)
        if prefix is not None:
            is_warning = prefix["level"] == b"WARN"
            yield LogLine(self.line_count, None, None, is_warning, _text(piece[prefix.end() :]))
        elif _TIMED.search(piece) is not None:
            yield LogLine(self.line_count, None, None, is_warning=False, message=_text(piece))

    def _origin(self, host: bytes, pid: bytes, device: bytes) -> LogOrigin:
        """The origin, one object for all its lines. What another rank left before the host's name is cut off."""
        known = self._origins.get((host, pid, device))
        if known is None:
            hosts = self._hosts[pid, device]
            whole = next((other for other in hosts if host.endswith(other)), host)
            known = self._origins.get((whole, pid, device)) or LogOrigin(whole.decode("ascii"), int(pid), int(device))
            self._origins[host, pid, device] = known
            if len(hosts) < _MOST_ALIKE:
                hosts.append(whole)
        return known


def _host_before(piece: bytes, end: int) -> bytes:
    """The name that ends there: a pattern that began with it would be tried at every letter of the line."""
    before = piece[max(0, end - _LONGEST_HOST) : end]
    return before[len(before.rstrip(_HOST_CHARACTERS)) :]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()
