"""What a log tells of the way data take: networks, adapters, links of channels, GPU Direct RDMA."""

from __future__ import annotations

import re
from collections import defaultdict

from nsysan.ingest.nccl_log.lines import LogLine
from nsysan.model.nccl_log import Adapter, AdapterSpeed, GpuDirect, LinkCount, LoggedNetwork, LogOrigin
from nsysan.model.units import BITS_PER_BYTE

_NETWORK = re.compile(r"Using network (?P<name>.{1,60})")
_RDMA_ADAPTER = re.compile(r"\[\d+\](?P<name>[^\s:\[]{1,60}):\d+/(?P<link>IB|RoCE)")
_SOCKET_ADAPTER = re.compile(r"\[\d+\](?P<name>[^\s:\[]{1,60}):")
_PROVIDER = re.compile(r"NET/OFI Selected (?i:provider) is (?P<name>\S{1,60})")
_LINK = re.compile(r"(?:Channel|Ring) \d+.{0,60}? -> .{0,40}? via (?P<path>.{1,80})")
_NUMBER_IN_PATH = re.compile(r"/\d+(?:\(\d+\))?(?=/|$)")
_SPEED = re.compile(r"NET/\S{1,20} ?: ?\[\d+\] ?(?P<name>[^\s:]{1,60}).{0,120}? speed=(?P<megabits>\d{1,8})")
_SPEED_IN_TOPOLOGY = re.compile(r"\+ NET\[[\d.]+\] - NET/(?P<name>\d{1,4}) \(.{1,60}/(?P<gigabytes>\d{1,5}\.\d{1,6})\)")
_BYTES_PER_MEGABIT = 1e6 / BITS_PER_BYTE
_UNKNOWN = LogOrigin("", 0, 0)


class TransportsInLog:
    """Takes the lines about transports; lines without a prefix are of no known process."""

    def __init__(self) -> None:
        self._networks: dict[tuple[LogOrigin, str], int] = {}
        self._adapters: dict[Adapter, None] = {}
        self._speeds: dict[tuple[str, str], AdapterSpeed] = {}
        self._links: dict[str, list[int]] = {}
        self._direct: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])

    def take(self, line: LogLine) -> bool:
        """Whether the line was about a transport."""
        message, origin = line.message, line.origin or _UNKNOWN
        if (found := _NETWORK.match(message)) is not None:
            self._networks.setdefault((origin, found["name"].strip()), line.number)
        elif (found := _LINK.match(message)) is not None:
            self._count_link(_NUMBER_IN_PATH.sub("", found["path"].strip()), line.number)
        elif "GPU Direct RDMA" in message:
            self._count_direct(origin.host, message, line.number)
        elif (speed := _speed_in(message, origin.host, line.number)) is not None:
            self._speeds.setdefault((speed.host, speed.adapter), speed)
        elif message.startswith("NET/"):
            self._take_adapters(origin.host, message)
        else:
            return False
        return True

    def networks(self) -> tuple[LoggedNetwork, ...]:
        """Each process' networks, in the order of the log."""
        return tuple(LoggedNetwork(origin, name, line) for (origin, name), line in self._networks.items())

    def adapters(self) -> tuple[Adapter, ...]:
        """The adapters of every host."""
        return tuple(self._adapters)

    def adapter_speeds(self) -> tuple[AdapterSpeed, ...]:
        """How fast each adapter of every host is, where a line says so."""
        return tuple(self._speeds.values())

    def links(self) -> tuple[LinkCount, ...]:
        """The paths of channels, the most used first."""
        found = (LinkCount(path, count, first) for path, (count, first) in self._links.items())
        return tuple(sorted(found, key=lambda link: (-link.count, link.path)))

    def gpu_direct(self) -> tuple[GpuDirect, ...]:
        """What each host says of it."""
        found = self._direct.items()
        return tuple(GpuDirect(host, enabled, disabled, first or None) for host, (enabled, disabled, first) in found)

    def _count_link(self, path: str, line: int) -> None:
        self._links.setdefault(path, [0, line])[0] += 1

    def _count_direct(self, host: str, message: str, line: int) -> None:
        counts = self._direct[host]
        if "Disabled" in message:
            counts[1] += 1
            counts[2] = counts[2] or line
        elif "Enabled" in message:
            counts[0] += 1

    def _take_adapters(self, host: str, message: str) -> None:
        if message.startswith("NET/Socket : Using"):
            found = [(name, "Socket") for name in _SOCKET_ADAPTER.findall(message)]
        elif (provider := _PROVIDER.match(message)) is not None:
            found = [(provider["name"], "OFI")]
        else:
            found = _RDMA_ADAPTER.findall(message)
        self._adapters.update(dict.fromkeys(Adapter(host, name, link) for name, link in found))


def _speed_in(message: str, host: str, line: int) -> AdapterSpeed | None:
    """What an adapter's line says (in Mb/s), or the drawing of the topology (in GB/s)."""
    if (found := _SPEED.search(message)) is not None:
        return AdapterSpeed(host, found["name"], int(found["megabits"]) * _BYTES_PER_MEGABIT, line)
    if (found := _SPEED_IN_TOPOLOGY.search(message)) is not None:
        return AdapterSpeed(host, f"NET/{found['name']}", float(found["gigabytes"]) * 1e9, line)
    return None
