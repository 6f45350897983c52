"""Nodes in a log that are unlike usual ones: too many ranks on one, or slow links inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.nccl_logs import NcclLogs, NcclLogSummary, TimingInLog
from nsysan.findings.logged_timings import place_of_timing
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.hardware.data_sheets import sheet_named
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import LARGE_COLLECTIVE_BYTES, MOST_NODE_GPUS, SLOW_NVLINK_FRAC
from nsysan.model.units import counted, format_fraction, format_rate
from nsysan.model.verdicts import Severity


def find_doubted_nodes(results: ResultSet) -> Iterable[Finding]:
    """A finding for each log that has more ranks on a node than any has GPUs, and one for each slow timing inside."""
    found = results.get(NcclLogs)
    for log in () if isinstance(found, Skipped) else found.nccl_logs:
        yield from _crowded(log)
        yield from _slow(log, results)


RULE = Rule("doubted_nodes", find_doubted_nodes)


def _crowded(log: NcclLogSummary) -> Iterator[Finding]:
    told = [(one.size, one.nodes) for one in log.communicators]
    told += [(timing.rank_count or 0, timing.node_count) for timing in log.timings]
    size, nodes = max(((size, nodes) for size, nodes in told if nodes), key=lambda one: one[0] / one[1], default=(0, 1))
    if size / nodes > MOST_NODE_GPUS:
        yield _finding(
            f"{size / nodes:g} ranks a node are unusual: nodes have up to {MOST_NODE_GPUS} GPUs",
            f"{log.name} tells of {counted(size, 'rank')} on {counted(nodes, 'node')}.",
            "Count hosts and ranks: a log may call a rack a node, or leave hosts out. What crosses nodes follows from "
            "it.",
        )


def _slow(log: NcclLogSummary, results: ResultSet) -> Iterator[Finding]:
    name, nvlink = _nvlink(results)
    for timing in log.timings:
        if nvlink is not None and _is_large_inside(timing) and timing.busbw_bytes_per_s < SLOW_NVLINK_FRAC * nvlink:
            reached = timing.busbw_bytes_per_s
            yield _finding(
                f"{format_rate(reached)} inside a node are unusual: NVLink of {name} carries {format_rate(nvlink)}",
                f"{place_of_timing(log, timing)} of one node reaches {format_fraction(reached / nvlink)}.",
                "See with nvidia-smi topo -m whether the GPUs have NVLink, and in the log which way channels go "
                "(P2P, SHM or NET): this is the speed of PCIe.",
            )


def _is_large_inside(timing: TimingInLog) -> bool:
    return (
        timing.node_count == 1
        and (timing.bytes or LARGE_COLLECTIVE_BYTES) >= LARGE_COLLECTIVE_BYTES
        and (timing.rank_count or 2) > 1
    )


def _nvlink(results: ResultSet) -> tuple[str, float | None]:
    """The GPUs' model, and what its NVLink carries one way; None where the model has none or is not known."""
    found = results.get(GpuTime)
    names = {gpu.name for gpu in found.gpus if gpu.name} if not isinstance(found, Skipped) else set()
    sheet = sheet_named(next(iter(names))) if len(names) == 1 else None
    return ("", None) if sheet is None else (sheet.model, sheet.nvlink_bytes_per_s)


def _finding(title: str, evidence: str, advice: str) -> Finding:
    return notice(RULE.id, Severity.INFO, title, (Evidence(evidence, NcclLogs.id),), advice)
