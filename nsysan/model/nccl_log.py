"""What a log of NCCL (``NCCL_DEBUG=INFO``) tells: version, networks, links, communicators and calls."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.evidence import EvidenceItem
from nsysan.model.kernels import Collective


class LogOrigin(msgspec.Struct, frozen=True):
    """Who wrote a line: the host, the process, and the process' device that the line is about."""

    host: str
    pid: int
    device_id: int


class LoggedNetwork(msgspec.Struct, frozen=True):
    """Which network a process uses between hosts, as NCCL names it (``IB``, ``Socket``), and the line that says so."""

    origin: LogOrigin
    name: str
    line: int


class Adapter(msgspec.Struct, frozen=True):
    """A network adapter that a host found: ``link`` is ``IB`` or ``RoCE``, ``Socket`` for one without RDMA."""

    host: str
    name: str
    link: str


class AdapterSpeed(msgspec.Struct, frozen=True):
    """How fast an adapter of a host is, as NCCL's line of it says; ``adapter`` is its name, or NCCL's number of it."""

    host: str
    adapter: str
    bytes_per_s: float
    line: int


class LinkCount(msgspec.Struct, frozen=True):
    """How many channel connections go over a path such as ``P2P/direct pointer`` or ``NET/IB/GDRDMA``."""

    path: str
    count: int
    first_line: int


class GpuDirect(msgspec.Struct, frozen=True):
    """How often NCCL says of pairs of GPU and adapter of a host that they use GPU Direct RDMA, or do not."""

    host: str
    enabled_count: int
    disabled_count: int
    first_disabled_line: int | None


class LoggedMember(msgspec.Struct, frozen=True):
    """Which rank of a communicator a process' device is."""

    origin: LogOrigin
    rank: int


class LoggedCommunicator(msgspec.Struct, frozen=True):
    """A communicator; what the log does not tell of it is None or empty.

    ``name`` is NCCL's hash, as it prints it, of one split off another that one's with the number and colour of the
    split. ``ring`` is the order of ranks along channel 0; ``channel_count`` and ``tree_count`` are those of a rank.
    """

    name: str | None
    size: int
    node_count: int | None
    channel_count: int | None
    tree_count: int | None
    ring: tuple[int, ...]
    members: tuple[LoggedMember, ...]


class LoggedCall(msgspec.Struct, frozen=True):
    """A call as its line tells it, all but which one it is.

    ``size_bytes`` is of the call's own argument, None like ``dtype`` where the type is not known. ``peer`` is the other
    end of a message, ``root`` that of a rooted collective. ``communicator`` is its name, None where the log has none.
    """

    kind: Collective
    is_sent: bool
    size_bytes: int | None
    dtype: str | None
    root: int | None
    peer: int | None
    communicator: str | None
    rank_count: int


class ThreadCalls(msgspec.Struct, frozen=True, eq=False):
    """The calls of one thread in the order of its lines: each a place in the log's calls, and NCCL's number of it."""

    host: str
    pid: int
    tid: int
    call: np.ndarray
    op_count: Int64Array


class LoggedTiming(msgspec.Struct, frozen=True):
    """A collective that a program timed itself and logged with elapsed time and bus bandwidth; the rest may be None.

    ``link_bytes_per_s`` is the speed of the link between nodes, where the line names it (``over 25 Gb/s Ethernet``).
    """

    kind: Collective
    algorithm: str | None
    rank_count: int | None
    node_count: int | None
    size_bytes: int | None
    elapsed_ns: int
    busbw_bytes_per_s: float
    line: int
    link_bytes_per_s: float | None = None


class NcclLog(EvidenceItem, frozen=True):
    """One log; of what it does not hold there is nothing.

    ``settings`` are NCCL's variables that the environment set. ``calls`` are told apart by what they say,
    ``threads`` says when each came; ``omitted_call_count`` calls came after as many as are kept.
    """

    line_count: int
    versions: tuple[str, ...]
    settings: Mapping[str, str]
    networks: tuple[LoggedNetwork, ...]
    adapters: tuple[Adapter, ...]
    adapter_speeds: tuple[AdapterSpeed, ...]
    links: tuple[LinkCount, ...]
    gpu_direct: tuple[GpuDirect, ...]
    communicators: tuple[LoggedCommunicator, ...]
    calls: tuple[LoggedCall, ...]
    threads: tuple[ThreadCalls, ...]
    omitted_call_count: int
    timings: tuple[LoggedTiming, ...]
    warning_count: int
