"""Communicators in a log: who is which rank of each, and the channels, rings and trees NCCL made for it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from nsysan.ingest.nccl_log.lines import LogLine
from nsysan.model.nccl_log import LoggedCommunicator, LoggedMember, LogOrigin

_INIT = re.compile(
    r"(?:.{0,80} )?comm (?P<address>\S+) rank (?P<rank>\d{1,8}) n[rR]anks (?P<size>\d{1,8}) cudaDev \d{1,4}\b"
    r"(?P<rest>.*?)-? ?Init (?P<state>START|COMPLETE)"
)
_ID = re.compile(r"commId (0x[0-9a-f]{1,16})")
_SPLIT = re.compile(r"parent (?P<parent>\S+) splitCount (?P<number>\d+) color (?P<colour>-?\d+)")
_NODES = re.compile(
    r"comm (?P<address>\S+) rank (?P<rank>\d{1,8}) n[rR]anks (?P<size>\d{1,8}) nNodes (?P<nodes>\d{1,8})\b"
)
_CHANNELS = re.compile(r"(?P<count>\d{1,4}) coll channels\b")
_RING = re.compile(r"Channel 0+/(?P<count>\d{1,4}) : (?P<ring>\d+(?: +\d+)*)$")
_TREES = re.compile(r"\[\d+\] -?\d+/-?\d+/-?\d+->\d+->-?\d+")


class _Membership(msgspec.Struct):
    """One process' part in a communicator, as far as its lines told it."""

    origin: LogOrigin
    address: str = ""
    name: str | None = None
    rank: int | None = None
    size: int = 0
    node_count: int | None = None
    channel_count: int | None = None
    tree_count: int | None = None
    ring: tuple[int, ...] = ()


class CommunicatorsInLog:
    """Takes the lines that a process writes while it makes a communicator."""

    def __init__(self) -> None:
        self._all: list[_Membership] = []
        self._making: dict[tuple[LogOrigin, int], _Membership] = {}
        self._names: dict[tuple[str, int, str], str | None] = {}

    def take(self, line: LogLine) -> bool:
        """Whether the line was of a communicator."""
        if line.origin is None or line.tid is None:
            return False
        message, thread = line.message, (line.origin, line.tid)
        if (found := _INIT.match(message)) is not None:
            self._identify(thread, found)
        elif (found := _NODES.match(message)) is not None:
            self._place(thread, found).node_count = int(found["nodes"])
        elif (found := _CHANNELS.match(message)) is not None:
            self._of(thread).channel_count = int(found["count"])
        elif (found := _RING.match(message)) is not None:
            self._of(thread).ring = tuple(map(int, found["ring"].split()))
            self._of(thread).channel_count = int(found["count"])
        elif message.startswith("Trees "):
            self._of(thread).tree_count = len(_TREES.findall(message))
        else:
            return False
        return True

    def found(self) -> tuple[LoggedCommunicator, ...]:
        """The communicators, the largest first, and by name."""
        together: defaultdict[tuple[str | None, int], list[_Membership]] = defaultdict(list)
        for one in self._all:
            if one.rank is not None and one.rank < one.size:
                together[one.name, one.size].append(one)
        found = (_communicator(name, size, parts) for (name, size), parts in together.items())
        return tuple(sorted(found, key=lambda one: (-one.size, one.name or "")))

    def names(self) -> Mapping[tuple[str, int, str], str | None]:
        """The name of the communicator at each address of a process, None where it had several there."""
        return self._names

    def _of(self, thread: tuple[LogOrigin, int]) -> _Membership:
        """What the thread is making; of older releases it is told only at the end which communicator that is."""
        if thread not in self._making:
            self._making[thread] = _Membership(thread[0])
            self._all.append(self._making[thread])
        return self._making[thread]

    def _place(self, thread: tuple[LogOrigin, int], found: re.Match[str]) -> _Membership:
        """The membership at the address that a line tells, with its rank and size."""
        making = self._making.get(thread)
        if making is not None and making.address not in {"", found["address"]}:
            del self._making[thread]
        making = self._of(thread)
        making.address, making.rank, making.size = found["address"], int(found["rank"]), int(found["size"])
        return making

    def _identify(self, thread: tuple[LogOrigin, int], found: re.Match[str]) -> None:
        making = self._place(thread, found)
        making.name = self._name(making, found["rest"]) or making.name
        key = (making.origin.host, making.origin.pid, making.address)
        self._names[key] = making.name if self._names.get(key, making.name) == making.name else None
        if found["state"] == "COMPLETE":
            del self._making[thread]

    def _name(self, making: _Membership, rest: str) -> str | None:
        told = _ID.search(rest)
        if told is not None:
            return f"0x{int(told[1], 16):016x}"
        split = _SPLIT.search(rest)
        if split is None:
            return None
        parent = self._names.get((making.origin.host, making.origin.pid, split["parent"]))
        return None if parent is None else f"{parent}/{split['number']}/{split['colour']}"


def _communicator(name: str | None, size: int, parts: list[_Membership]) -> LoggedCommunicator:
    ranks = {part.rank: part for part in parts}
    # communicators of one size without names are one only if no rank is there twice
    members = ranks if name is not None or len(ranks) == len(parts) else {}
    return LoggedCommunicator(
        name=name,
        size=size,
        node_count=_greatest(part.node_count for part in parts),
        channel_count=_greatest(part.channel_count for part in parts),
        tree_count=_greatest(part.tree_count for part in parts),
        ring=next((part.ring for part in parts if part.ring), ()),
        members=tuple(LoggedMember(part.origin, rank) for rank, part in _by_rank(members)),
    )


def _by_rank(members: Mapping[int | None, _Membership]) -> Iterator[tuple[int, _Membership]]:
    return iter(sorted((rank, part) for rank, part in members.items() if rank is not None))


def _greatest(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
