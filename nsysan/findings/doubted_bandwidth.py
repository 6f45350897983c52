"""A bus bandwidth in a log that is more than the link which the log names can carry."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.nccl_logs import NcclLogs, NcclLogSummary, TimingInLog
from nsysan.findings.logged_timings import place_of_timing
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import ROUNDING_FACTOR
from nsysan.model.units import BITS_PER_BYTE, format_rate
from nsysan.model.verdicts import Severity

_MAY_EXCEED = {"tree", "nvls", "collnet"}
"""Over two nodes a tree moves less than a ring, and switches that reduce move half: busbw counts as a ring would."""
_LOOK = (
    "See which adapters it runs over, how fast they are, and what the log means by GB (1e9 or 2^30 bytes) and by "
    "busbw. A tree over two nodes and switches that reduce may exceed a link, a ring cannot."
)


def find_doubted_bandwidth(results: ResultSet) -> Iterable[Finding]:
    """A finding for each timing between nodes that exceeds the line's own link, else all adapters of a host."""
    found = results.get(NcclLogs)
    for log in () if isinstance(found, Skipped) else found.nccl_logs:
        for timing in log.timings:
            link = timing.link_bytes_per_s or log.host_bytes_per_s
            if (
                link is not None
                and _is_of_a_ring_over_nodes(timing)
                and timing.busbw_bytes_per_s > ROUNDING_FACTOR * link
            ):
                yield _finding(log, timing, link)


RULE = Rule("doubted_bandwidth", find_doubted_bandwidth)


def _is_of_a_ring_over_nodes(timing: TimingInLog) -> bool:
    return (timing.node_count or 1) > 1 and timing.algorithm not in _MAY_EXCEED


def _finding(log: NcclLogSummary, timing: TimingInLog, link: float) -> Finding:
    reached, carried = format_rate(timing.busbw_bytes_per_s), format_rate(link)
    return notice(
        RULE.id,
        Severity.WARNING,
        f"A busbw of {reached} is more than its link carries: {link * BITS_PER_BYTE / 1e9:g} Gb/s are {carried}",
        (Evidence(f"{place_of_timing(log, timing)} on {timing.node_count} nodes, {reached}.", NcclLogs.id),),
        _LOOK,
    )
