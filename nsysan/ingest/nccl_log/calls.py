"""NCCL's COLL lines (``NCCL_DEBUG_SUBSYS=COLL``): each call with its size, data type and communicator.

``opCount`` is written as a hexadecimal number, the data type as its number in ``ncclDataType_t``, and the count is that
of the call's own argument: one rank's part of an all-gather and reduce-scatter.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict

import msgspec
import numpy as np

from nsysan.ingest.nccl_log.lines import LogLine
from nsysan.model.kernels import COLLECTIVE_OF_CALL, Collective
from nsysan.model.nccl_log import LoggedCall, LogOrigin, ThreadCalls
from nsysan.model.nccl_types import NCCL_TYPES, nccl_type
from nsysan.model.trace import IMPOSSIBLE_BYTES

MOST_CALLS = 1 << 24
"""So many calls are kept, at 12 bytes each, and a sixteenth as many that differ."""
_CALL = re.compile(
    r"(?P<name>[A-Za-z]+): opCount (?P<op>[0-9a-f]{1,16}) sendbuff \S+ recvbuff \S+ "
    r"count (?P<count>[0-9]{1,18}) datatype (?P<dtype>[0-9]{1,3}) op [0-9]+ root (?P<root>-?[0-9]{1,9}) "
    r"comm (?P<comm>\S+) \[nranks=(?P<ranks>[0-9]{1,8})\]"
)
_ROOTED = frozenset({Collective.BROADCAST, Collective.REDUCE, Collective.GATHER, Collective.SCATTER})

_Thread = tuple[str, int, int]


class CallInProcess(msgspec.Struct, frozen=True):
    """A call with the address that its communicator has in the process which made it."""

    call: LoggedCall
    host: str
    pid: int
    address: str


class _Sequence(msgspec.Struct):
    call: array[int] = msgspec.field(default_factory=lambda: array("I"))
    op_count: array[int] = msgspec.field(default_factory=lambda: array("q"))


class CallsInLog:
    """Takes the lines of calls and keeps each call once, with the order in which threads made them."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, ...], int] = {}
        self._calls: list[CallInProcess] = []
        self._threads: defaultdict[_Thread, _Sequence] = defaultdict(_Sequence)
        self._kept_count = 0
        self.omitted_count = 0

    def take(self, line: LogLine) -> bool:
        """Whether the line is a call; one whose process is not told is none."""
        found = _CALL.match(line.message) if "opCount" in line.message else None
        if found is None or line.origin is None or line.tid is None or found["name"].lower() not in COLLECTIVE_OF_CALL:
            return False
        if self._kept_count >= MOST_CALLS or len(self._calls) >= MOST_CALLS >> 4:
            self.omitted_count += 1
            return True
        sequence = self._threads[line.origin.host, line.origin.pid, line.tid]
        sequence.call.append(self._place(found, line.origin))
        sequence.op_count.append(min(int(found["op"], 16), (1 << 63) - 1))
        self._kept_count += 1
        return True

    def told_apart(self) -> tuple[CallInProcess, ...]:
        """The different calls."""
        return tuple(self._calls)

    def threads(self) -> tuple[ThreadCalls, ...]:
        """Who made which, by the places in ``told_apart``."""
        return tuple(
            ThreadCalls(*thread, np.array(found.call, np.uint32), np.array(found.op_count, np.int64))
            for thread, found in self._threads.items()
        )

    def _place(self, found: re.Match[str], origin: LogOrigin) -> int:
        key = (*found.group("name", "count", "dtype", "root", "comm", "ranks"), origin.host, str(origin.pid))
        place = self._places.setdefault(key, len(self._calls))
        if place == len(self._calls):
            self._calls.append(CallInProcess(_call(found), origin.host, origin.pid, found["comm"]))
        return place


def _call(found: re.Match[str]) -> LoggedCall:
    kind, root = COLLECTIVE_OF_CALL[found["name"].lower()], int(found["root"])
    number = nccl_type(found["dtype"])
    dtype, width = (None, None) if number is None else NCCL_TYPES[number]
    size_bytes = None if width is None else int(found["count"]) * width
    return LoggedCall(
        kind=kind,
        is_sent=found["name"] == "Send",
        size_bytes=size_bytes if size_bytes is not None and size_bytes < IMPOSSIBLE_BYTES else None,
        dtype=dtype,
        root=root if kind in _ROOTED and root >= 0 else None,
        peer=root if kind is Collective.SEND_RECV and root >= 0 else None,
        communicator=None,
        rank_count=int(found["ranks"]),
    )
