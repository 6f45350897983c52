"""The tables of what NCCL's logs and nccl-tests tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.nccl_logs import NcclLogSummary, NetworkUse, TimingInLog
from nsysan.analysis.nccl_tests import NcclTestSummary
from nsysan.model.units import counted, format_count
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import capitalized, spelled
from nsysan.report.terms import TERMS

_LISTED = 8


def log_table(logs: Sequence[NcclLogSummary]) -> Table | None:
    """A row for each network, kind of link and communicator that a log tells of; None where none does."""
    rows = tuple(row for log in logs for row in _log_rows(log))
    if not rows:
        return None
    return Table(
        id="nccl-log-rows",
        caption="Networks, links and communicators in NCCL's logs",
        columns=(
            Column("Log"),
            Column("what"),
            Column("which", notes="of"),
            Column("count", TERMS["count"], numeric=True),
            Column("first line", TERMS["log_lines"], numeric=True),
        ),
        rows=rows,
        source="nccl_logs[]",
    )


def timing_table(logs: Sequence[NcclLogSummary]) -> Table | None:
    """A row for each collective that programs timed themselves; None where no log tells any."""
    rows = tuple(_timing_row(log.name, timing) for log in logs for timing in log.timings)
    if not rows:
        return None
    return Table(
        id="nccl-timing-rows",
        caption="Collectives that the program timed itself",
        columns=(
            Column("Log"),
            Column("collective", notes="how"),
            Column("lines", TERMS["log_lines"], numeric=True),
            Column("size", TERMS["collective_size"], numeric=True, unit="B"),
            Column("elapsed", TERMS["logged_time"], numeric=True, unit="ns"),
            Column("busbw", TERMS["busbw"], numeric=True, unit="B/s"),
        ),
        rows=rows,
        source="nccl_logs[].timings[]",
    )


def test_table(tests: Sequence[NcclTestSummary]) -> Table | None:
    """A row for each size of each test; None where no test is given."""
    rows = tuple(row for test in tests for row in _test_rows(test))
    if not rows:
        return None
    return Table(
        id="nccl-test-rows",
        caption="What nccl-tests reached",
        columns=(
            Column("Test", notes="file"),
            Column("size", TERMS["collective_size"], numeric=True, unit="B"),
            Column("placed"),
            Column("time", TERMS["logged_time"], numeric=True, unit="ns"),
            Column("algbw", TERMS["algbw"], numeric=True, unit="B/s"),
            Column("busbw", TERMS["busbw"], numeric=True, unit="B/s"),
        ),
        rows=rows,
        search="all_reduce, out of place",
        source="nccl_tests[].sizes[]",
    )


def where_tested(test: NcclTestSummary) -> str:
    """On how many ranks and nodes a test ran, and on which GPUs, as far as it tells."""
    told = (
        None if test.rank_count is None else counted(test.rank_count, "rank"),
        None if test.nodes is None else f"on {counted(test.nodes, 'node')}",
        f"({', '.join(test.gpu_names[:_LISTED])})" if test.gpu_names else None,
    )
    return " ".join(part for part in told if part is not None)


def _log_rows(log: NcclLogSummary) -> Iterator[tuple[Cell, ...]]:
    name = Cell(log.name, style="name")
    for network in log.networks:
        note = _users(network)
        yield name, Cell("network"), Cell(network.network, note), *_counts(network.process_count, network.first_line)
    for link in log.links:
        yield name, Cell("link"), Cell(link.path, style="code"), *_counts(link.count, link.first_line)
    for found in log.communicators:
        told = (
            counted(found.size, "rank"),
            None if found.nodes is None else f"on {counted(found.nodes, 'node')}",
            None if found.channel_count is None else counted(found.channel_count, "channel"),
            None if not found.tree_count else counted(found.tree_count, "tree"),
            f"ring {' '.join(map(str, found.ring[:_LISTED]))}{' …' if len(found.ring) > _LISTED else ''}"
            if found.ring
            else None,
        )
        which = Cell(found.communicator or "not named", ", ".join(part for part in told if part is not None))
        yield name, Cell("communicator"), which, cells.count(found.size), cells.UNKNOWN


def _counts(count: int, first_line: int) -> tuple[Cell, Cell]:
    return cells.count(count), cells.count(first_line)


def _users(network: NetworkUse) -> str | None:
    """Which ranks use it, on which hosts."""
    ranks = f"ranks {', '.join(map(str, network.ranks[:_LISTED]))}" if network.ranks else None
    more = len(network.ranks) - _LISTED
    listed = f"{ranks} and {format_count(more)} more" if ranks and more > 0 else ranks
    return "; ".join(part for part in (listed, ", ".join(network.hosts[:_LISTED])) if part) or None


def _timing_row(log: str, timing: TimingInLog) -> tuple[Cell, ...]:
    told = (
        timing.algorithm,
        None if timing.rank_count is None else counted(timing.rank_count, "rank"),
        None if timing.node_count is None else counted(timing.node_count, "node"),
    )
    note = ", ".join(part for part in told if part is not None) or None
    return (
        Cell(log, style="name"),
        Cell(capitalized(spelled(timing.kind)), note),
        cells.count(timing.count),
        cells.UNKNOWN if timing.bytes is None else cells.size(timing.bytes),
        cells.duration(timing.elapsed_ns),
        cells.rate(timing.busbw_bytes_per_s),
    )


def _test_rows(test: NcclTestSummary) -> Iterator[tuple[Cell, ...]]:
    kind = "unknown collective" if test.kind is None else spelled(test.kind)
    for size in test.sizes:
        yield (
            Cell(capitalized(kind), test.name),
            cells.size(size.bytes),
            Cell("in place" if size.in_place else "out of place"),
            cells.duration(size.time_ns),
            cells.rate(size.algbw_bytes_per_s),
            cells.rate(size.busbw_bytes_per_s),
        )
