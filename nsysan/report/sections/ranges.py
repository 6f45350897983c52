"""The named ranges of the program: host and GPU time of each name, and how they nest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nsysan.analysis.ranges import RangeKind, RangeNode, Ranges, RangeTimesOfName
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table, single_bar
from nsysan.report.extremes import alike
from nsysan.report.prose import listed
from nsysan.report.section import Layout, Section, Unanswered, View, unanswered
from nsysan.report.terms import TERMS

DEEPEST = 9
"""Ranges nested deeper are set in no further: the style sheet has no more steps."""


class RangesView(View, frozen=True):
    """The names, and the tree in which they nest."""

    tables: tuple[Table, ...]


def _build(run: Run) -> RangesView | Unanswered | None:
    found = run.results.get(Ranges)
    if isinstance(found, Skipped):
        return unanswered(found, "what the ranges of the program took")
    if not found.ranges:
        return None
    tree = (_tree_table(found),) if found.range_tree else ()
    return RangesView(
        heading=_heading(found.ranges),
        context="GPU time is the work that was launched inside a range, and runs later: a volume, no time of the "
        "range. Self is what no range nested inside has. An asterisk stands for numbers that count.",
        tables=(_name_table(found), *tree),
    )


def _heading(ranges: Sequence[RangeTimesOfName]) -> str:
    """Which name launches the most work itself, or where none does takes the most time of the host."""
    if any(row.gpu_self_ns for row in ranges):
        return f"Most GPU work is launched in {_with_most(ranges, lambda row: row.gpu_self_ns or 0, ' itself')}"
    return f"Most host time is spent in {_with_most(ranges, lambda row: row.cpu_total_ns)}"


def _with_most(ranges: Sequence[RangeTimesOfName], time_ns: Callable[[RangeTimesOfName], int], how: str = "") -> str:
    """The name with the most time, or how many have as much, and that time."""
    longest = max(ranges, key=time_ns)
    count = len(alike(longest, ranges, lambda row: format_duration(time_ns(row))))
    names = f"“{longest.name}”" if count == 1 else f"each of {format_count(count)} names"
    return f"{names}{how}: {format_duration(time_ns(longest))}"


def _name_table(found: Ranges) -> Table:
    return Table(
        id="range-names",
        caption="Ranges by name, over all threads",
        columns=(
            Column("Range", TERMS["range"], notes="remarks"),
            Column("count", TERMS["count"], numeric=True, sums=True),
            Column("CPU total", TERMS["range_cpu"], numeric=True, unit="ns"),
            Column("CPU self", TERMS["range_cpu"], numeric=True, unit="ns", sums=True),
            Column("GPU total", TERMS["range_gpu"], numeric=True, unit="ns"),
            Column("GPU self", TERMS["range_gpu"], numeric=True, unit="ns", sums=True),
            Column("GPU starved", TERMS["range_starved"], numeric=True, unit="ns", sums=True),
            Column("domain", is_copied_only=True),
        ),
        rows=tuple(_name_row(row) for row in found.ranges),
        note=_omitted(found.ranges_omitted_count, "name"),
        search="step, forward, aten",
        source="ranges[]",
    )


def _name_row(row: RangeTimesOfName) -> tuple[Cell, ...]:
    return (
        Cell(row.name, _remark(row), style="name"),
        cells.count(row.count),
        cells.duration(row.cpu_total_ns),
        _self_time(row.cpu_self_ns),
        cells.duration(row.gpu_total_ns),
        _self_time(row.gpu_self_ns),
        cells.duration(row.launch_starved_ns),
        Cell(row.domain or ""),
    )


def _remark(row: RangeTimesOfName) -> str | None:
    """What a reader must know about a range besides its name."""
    ambiguous = f"{format_duration(row.ambiguous_gpu_ns)} of GPU time is ambiguous" if row.ambiguous_gpu_ns else None
    remarks = (
        _domain(row.domain),
        f"category {listed(row.categories)}" if row.categories else None,
        _shapes(row),
        "start/end, not nested" if row.kind is RangeKind.START_END else None,
        f"{counted(row.open_count, 'range')} still open at the end" if row.open_count else None,
        ambiguous,
    )
    return "; ".join(filter(None, remarks)) or None


def _domain(name: str | None) -> str | None:
    """A domain by its name; one whose name was not recorded is called so already: ``domain 3``."""
    return name if name is None or name.startswith("domain ") else f"domain {name}"


def _shapes(row: RangeTimesOfName) -> str | None:
    """The shapes of an operator's inputs with the most GPU time."""
    if not row.shapes:
        return None
    others = f" and {counted(row.shape_count - 1, 'other shape')}" if row.shape_count > 1 else ""
    return f"inputs {row.shapes[0].sizes}, {format_duration(row.shapes[0].gpu_total_ns)} of GPU time{others}"


def _self_time(time_ns: int | None, unknown: str = "not nested") -> Cell:
    return Cell(unknown, style="faint") if time_ns is None else cells.duration(time_ns)


def _tree_table(found: Ranges) -> Table:
    ordered = _from_the_top_down(found.range_tree)
    most_ns = max(1, *(node.cpu_total_ns for node in found.range_tree))
    return Table(
        id="range-tree",
        caption="How the ranges nest: each below the one it is inside of, those with the most host time first",
        columns=(
            Column("Range", TERMS["range"]),
            Column("Host time", bar=True),
            Column("count", TERMS["count"], numeric=True),
            Column("CPU total", TERMS["range_cpu"], numeric=True, unit="ns"),
            Column("CPU self", TERMS["range_cpu"], numeric=True, unit="ns"),
            Column("GPU total", TERMS["range_gpu"], numeric=True, unit="ns"),
            Column("GPU self", TERMS["range_gpu"], numeric=True, unit="ns"),
            Column("depth", numeric=True, is_copied_only=True),
            Column("inside of", is_copied_only=True),
            Column("domain", is_copied_only=True),
        ),
        rows=tuple(_node_row(node, depth, _parent_of(node, found.range_tree), most_ns) for node, depth in ordered),
        note=_omitted(found.range_nodes_omitted_count, "path"),
        source="range_tree[]",
        fold="how they nest",
        is_ordered=True,
    )


def _parent_of(node: RangeNode, nodes: Sequence[RangeNode]) -> str:
    return "" if node.parent is None else nodes[node.parent].name


def _node_row(node: RangeNode, depth: int, parent: str, most_ns: int) -> tuple[Cell, ...]:
    return (
        Cell(node.name, _domain(node.domain), style="name", depth=min(depth, DEEPEST)),
        Cell("", bar=single_bar("host", node.cpu_total_ns / most_ns)),
        cells.count(node.count),
        cells.duration(node.cpu_total_ns),
        _self_time(node.cpu_self_ns, "not told"),
        cells.duration(node.gpu_total_ns),
        _self_time(node.gpu_self_ns, "not told"),
        cells.count(depth),
        Cell(parent),
        Cell(node.domain or ""),
    )


def _from_the_top_down(nodes: Sequence[RangeNode]) -> list[tuple[RangeNode, int]]:
    """Each node with its depth, straight below its parent; siblings by host time, the most first."""
    children: dict[int | None, list[int]] = {}
    for place, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(place)
    ordered: list[tuple[RangeNode, int]] = []
    # a path may be as long as the tree: no recursion
    left = [(place, 0) for place in _least_first(children.get(None, []), nodes)]
    while left:
        place, depth = left.pop()
        ordered.append((nodes[place], depth))
        left.extend((child, depth + 1) for child in _least_first(children.pop(place, []), nodes))
    return ordered


def _least_first(places: Sequence[int], nodes: Sequence[RangeNode]) -> list[int]:
    return sorted(places, key=lambda place: (nodes[place].cpu_total_ns, -place))


def _omitted(count: int, noun: str) -> str | None:
    return (
        f"{counted(count, f'more {noun}')} with less time {'is' if count == 1 else 'are'} left out." if count else None
    )


SECTION = Section("ranges", 46, "Ranges", "What the program's ranges took", _build, Layout.WIDE)
