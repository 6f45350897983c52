"""Ranks that reach each other over sockets where there may be a faster network, or through the hosts' memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.nccl_logs import NcclLogs, NcclLogSummary, NetworkUse
from nsysan.findings.advice import advice_of
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import SLOW_LINK
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted
from nsysan.model.verdicts import BottleneckClass, Severity

_SOCKET = "socket"
_LISTED_RANKS = 8


def find_slow_transport(results: ResultSet) -> Iterable[Finding]:
    """A finding for each log in which ranks of several nodes use sockets, or RDMA that goes through host memory."""
    found = results.get(NcclLogs)
    for log in () if isinstance(found, Skipped) else found.nccl_logs:
        sockets = [network for network in log.networks if _SOCKET in network.network.lower()]
        if sockets and _spans_nodes(log):
            yield _socket_finding(log, sockets)
        elif log.gpu_direct is not None and log.gpu_direct.disabled_count and _spans_nodes(log):
            yield _host_memory_finding(log)


RULE = Rule("slow_transport", find_slow_transport)


def _spans_nodes(log: NcclLogSummary) -> bool:
    """Whether ranks talk over a network at all: inside one node they do not, whichever is there."""
    nodes = [one.nodes for one in log.communicators if one.nodes is not None]
    return max(nodes, default=0) > 1 if nodes else _uses_links_between_nodes(log) or len(_hosts(log)) > 1


def _uses_links_between_nodes(log: NcclLogSummary) -> bool:
    return any(link.path.startswith("NET/") for link in log.links)


def _hosts(log: NcclLogSummary) -> set[str]:
    return {host for network in log.networks for host in network.hosts}


def _socket_finding(log: NcclLogSummary, sockets: list[NetworkUse]) -> Finding:
    others = [network for network in log.networks if network not in sockets]
    is_mixed = bool(others)
    title = (
        "Some ranks reach others over sockets, the rest do not" if is_mixed else "Ranks reach each other over sockets"
    )
    return Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMMUNICATION,
        cause=SLOW_LINK,
        severity=Severity.WARNING,
        title=title,
        recoverable_ns=None,
        evidence=tuple(Evidence(_sentence(log, network), NcclLogs.id) for network in (*sockets, *others)),
        advice=tuple(_advice(log, is_mixed=is_mixed)),
    )


def _sentence(log: NcclLogSummary, network: NetworkUse) -> str:
    who = _ranks(network) if network.ranks else counted(network.process_count, "rank")
    where = ", ".join(network.hosts[:_LISTED_RANKS])
    return f"{log.name}, line {network.first_line}: NCCL uses network {network.network} for {who} on {where}."


def _ranks(network: NetworkUse) -> str:
    if len(network.ranks) > _LISTED_RANKS:
        return counted(len(network.ranks), "rank")
    return f"rank{'s' if len(network.ranks) > 1 else ''} {', '.join(map(str, network.ranks))}"


def _advice(log: NcclLogSummary, *, is_mixed: bool) -> Iterator[str]:
    if log.settings.get("NCCL_IB_DISABLE") == "1":
        yield advice_of("allow_infiniband")
    elif is_mixed:
        yield advice_of("one_network")
    else:
        yield advice_of("find_adapter")


def _host_memory_finding(log: NcclLogSummary) -> Finding:
    direct = log.gpu_direct
    assert direct is not None, "it tells of pairs that are off"
    pairs = counted(direct.disabled_count, "pair")
    of = f" of {direct.disabled_count + direct.enabled_count}" if direct.enabled_count else ""
    return Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMMUNICATION,
        cause=SLOW_LINK,
        severity=Severity.INFO,
        title="Data between nodes pass through host memory on part of the adapters",
        recoverable_ns=None,
        evidence=(
            Evidence(
                f"{log.name}, line {direct.first_disabled_line}: GPU Direct RDMA is off for {pairs}{of} of GPU and "
                "adapter.",
                NcclLogs.id,
            ),
        ),
        advice=(advice_of("gpu_direct"),),
    )
