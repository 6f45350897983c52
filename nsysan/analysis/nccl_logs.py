"""What logs of NCCL say of the run: networks and links between ranks, communicators, and what programs timed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import ClassVar

import msgspec

from nsysan.analysis.host_names import host_names
from nsysan.analysis.registry import Analysis
from nsysan.attribution.collectives.logged_calls import LogUse
from nsysan.attribution.job import Job
from nsysan.model.figures import Bearing, Condition
from nsysan.model.nccl_log import LoggedCommunicator, LoggedTiming, LogOrigin, NcclLog
from nsysan.model.results import ResultSet
from nsysan.model.settings import shown_setting
from nsysan.model.text import display_text

SHOWN_ROWS = 100


class NetworkUse(msgspec.Struct, frozen=True):
    """Processes that use one network between hosts: by their ranks where the log tells them, from which line on.

    ``hosts`` are names with ``--keep-identity``, else hosts are numbered in the order of the log.
    """

    network: str
    process_count: int
    ranks: tuple[int, ...]
    hosts: tuple[str, ...]
    first_line: int


class LinkUse(msgspec.Struct, frozen=True):
    """How many connections of channels go over a path such as ``NET/IB/GDRDMA``, and the first line that says so."""

    path: str
    count: int
    first_line: int


class DirectUse(msgspec.Struct, frozen=True):
    """How many pairs of GPU and adapter use GPU Direct RDMA, and how many do not."""

    enabled_count: int
    disabled_count: int
    first_disabled_line: int | None


class CommunicatorInLog(msgspec.Struct, frozen=True):
    """A communicator as the log tells it; ``ring`` is the order of ranks along the first channel."""

    communicator: str | None
    size: int
    nodes: int | None
    channel_count: int | None
    tree_count: int | None
    ring: tuple[int, ...]


class TimingInLog(msgspec.Struct, frozen=True):
    """What programs timed themselves and logged, of one kind of collective: the median, of ``count`` lines.

    ``link_bytes_per_s`` is the speed of the link between nodes, null where the lines do not name it; ``first_line`` is
    the first of the lines.
    """

    kind: str
    algorithm: str | None
    rank_count: int | None
    node_count: int | None
    bytes: int | None
    count: int
    elapsed_ns: int
    busbw_bytes_per_s: float
    link_bytes_per_s: float | None = None
    first_line: int = 0


class NcclLogSummary(msgspec.Struct, frozen=True):
    """One log. ``host_bytes_per_s`` is what all adapters of a host carry, of the host with most, null where not told.

    ``call_count`` is of its COLL lines, ``used_call_count`` of the traces' calls that they told more of.

    ``process_count`` is of the processes of the traces that it is of, told by host and process number.
    """

    name: str
    line_count: int
    warning_count: int
    versions: tuple[str, ...]
    settings: dict[str, str | None]
    networks: tuple[NetworkUse, ...]
    adapters: dict[str, int]
    links: tuple[LinkUse, ...]
    gpu_direct: DirectUse | None
    communicators: tuple[CommunicatorInLog, ...]
    timings: tuple[TimingInLog, ...]
    call_count: int
    omitted_call_count: int
    process_count: int
    used_call_count: int
    host_bytes_per_s: float | None = None


class NcclLogs(msgspec.Struct, frozen=True):
    """The logs that were given, none where none was."""

    id: ClassVar[str] = "nccl_logs"

    nccl_logs: tuple[NcclLogSummary, ...]

    def not_given(self) -> str | None:
        """What the figures are read of; None where it was given."""
        return None if self.nccl_logs else "log of NCCL"

    def conditions(self) -> Iterator[Condition]:
        """The versions of NCCL."""
        versions = sorted({version for log in self.nccl_logs for version in log.versions})
        if versions:
            yield Condition("nccl", "NCCL", ", ".join(versions), Bearing.CAUTIONS, is_beside=True)


def compute_nccl_logs(job: Job, _results: ResultSet) -> NcclLogs:
    """A summary of each log of NCCL among the evidence."""
    logs = job.evidence.of(NcclLog)
    uses = job.collectives.log_uses if logs else ()
    keep_identity = job.evidence.keep_identity
    summaries = (_summary(log, use, keep_identity=keep_identity) for log, use in zip(logs, uses, strict=True))
    return NcclLogs(tuple(summaries))


ANALYSIS = Analysis(NcclLogs, compute_nccl_logs)


def _summary(log: NcclLog, use: LogUse, *, keep_identity: bool) -> NcclLogSummary:
    return NcclLogSummary(
        name=display_text(log.name),
        line_count=log.line_count,
        warning_count=log.warning_count,
        versions=tuple(map(display_text, log.versions)),
        settings={name: shown_setting(name, value) for name, value in sorted(log.settings.items())},
        networks=tuple(_networks(log, keep_identity=keep_identity)),
        adapters=_adapter_counts(log),
        links=tuple(LinkUse(display_text(one.path), one.count, one.first_line) for one in log.links[:SHOWN_ROWS]),
        gpu_direct=_direct(log),
        communicators=tuple(map(_communicator, log.communicators[:SHOWN_ROWS])),
        timings=tuple(_timings(log))[:SHOWN_ROWS],
        call_count=sum(len(thread.call) for thread in log.threads),
        omitted_call_count=log.omitted_call_count,
        process_count=use.process_count,
        used_call_count=use.call_count,
        host_bytes_per_s=_host_bytes_per_s(log),
    )


def _networks(log: NcclLog, *, keep_identity: bool) -> Iterator[NetworkUse]:
    """The networks, that of most processes first."""
    names = host_names((one.origin.host for one in log.networks), keep_identity=keep_identity)
    ranks = _ranks_in_largest(log)
    using: defaultdict[str, list[tuple[LogOrigin, int]]] = defaultdict(list)
    for one in log.networks:
        using[one.name].append((one.origin, one.line))
    for name, found in sorted(using.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        hosts = dict.fromkeys(origin.host for origin, _ in found)
        yield NetworkUse(
            network=display_text(name),
            process_count=len({(origin.host, origin.pid, origin.device_id) for origin, _ in found}),
            ranks=tuple(sorted(ranks[origin] for origin, _ in found if origin in ranks))[:SHOWN_ROWS],
            hosts=tuple(names[host] for host in hosts)[:SHOWN_ROWS],
            first_line=min(line for _, line in found),
        )


def _ranks_in_largest(log: NcclLog) -> Mapping[LogOrigin, int]:
    """The rank of each process in the largest communicator, which has all ranks more often than not."""
    largest: LoggedCommunicator | None = next(iter(log.communicators), None)
    return {} if largest is None else {member.origin: member.rank for member in largest.members}


def _adapter_counts(log: NcclLog) -> dict[str, int]:
    """How many adapters there are of each link layer, over all hosts."""
    counts: dict[str, int] = {}
    for adapter in log.adapters:
        counts[adapter.link] = counts.get(adapter.link, 0) + 1
    return counts


def _host_bytes_per_s(log: NcclLog) -> float | None:
    """NCCL may use all adapters of a host at once."""
    speeds: dict[str, float] = {}
    for one in log.adapter_speeds:
        speeds[one.host] = speeds.get(one.host, 0.0) + one.bytes_per_s
    return max(speeds.values(), default=None)


def _direct(log: NcclLog) -> DirectUse | None:
    if not log.gpu_direct:
        return None
    lines = [host.first_disabled_line for host in log.gpu_direct if host.first_disabled_line is not None]
    return DirectUse(
        sum(host.enabled_count for host in log.gpu_direct),
        sum(host.disabled_count for host in log.gpu_direct),
        min(lines, default=None),
    )


def _communicator(found: LoggedCommunicator) -> CommunicatorInLog:
    return CommunicatorInLog(
        communicator=found.name,
        size=found.size,
        nodes=found.node_count,
        channel_count=found.channel_count,
        tree_count=found.tree_count,
        ring=found.ring[:SHOWN_ROWS],
    )


def _timings(log: NcclLog) -> Iterator[TimingInLog]:
    """The timings of alike collectives together, those of most lines first."""
    alike: defaultdict[tuple[object, ...], list[LoggedTiming]] = defaultdict(list)
    for timing in log.timings:
        among = (timing.rank_count, timing.node_count, timing.link_bytes_per_s)
        alike[(timing.kind, timing.algorithm, timing.size_bytes, *among)].append(timing)
    for same in sorted(alike.values(), key=len, reverse=True):
        middle = sorted(same, key=lambda timing: timing.elapsed_ns)[(len(same) - 1) // 2]
        yield TimingInLog(
            kind=middle.kind.value,
            algorithm=middle.algorithm,
            rank_count=middle.rank_count,
            node_count=middle.node_count,
            bytes=middle.size_bytes,
            count=len(same),
            elapsed_ns=middle.elapsed_ns,
            busbw_bytes_per_s=middle.busbw_bytes_per_s,
            link_bytes_per_s=middle.link_bytes_per_s,
            first_line=min(timing.line for timing in same),
        )
