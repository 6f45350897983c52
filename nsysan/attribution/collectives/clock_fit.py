"""One clock for all reports: the sessions' own, corrected by the ends of collectives that all ranks end together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.clocks import Clock
from nsysan.attribution.collectives.clock_line import ClockLine, line_through
from nsysan.attribution.collectives.kinds import Meeting
from nsysan.attribution.collectives.members import Member
from nsysan.attribution.collectives.operations import Operations
from nsysan.attribution.collectives.series import Clocks, Series
from nsysan.model.arrays import Int64Array


class FittedClocks(msgspec.Struct, frozen=True):
    """Per report: the line onto the common clock, which reports are on one, and how far its ends lie from the others'.

    Reports with equal ``component_of`` share collectives, directly or through others; the lines of such are right to
    some 20 us among each other. Where nothing tells a report's offset its line is None. ``residual_ns`` is the median
    distance of a report's ends of symmetric collectives from the middle end of each instance, null where it shares
    none.
    """

    lines: tuple[ClockLine | None, ...]
    component_of: tuple[int, ...]
    residual_ns: tuple[int | None, ...]

    @property
    def offset_ns(self) -> tuple[int | None, ...]:
        """What to add to times at the begin of each report's session."""
        return tuple(None if line is None else line.offset_ns for line in self.lines)

    @property
    def drift_frac(self) -> tuple[float | None, ...]:
        """What more to add for each ns after it; 0.0 where no drift shows, None where there is no line."""
        return tuple(None if line is None else line.drift_frac for line in self.lines)

    def line(self, report: int) -> ClockLine:
        """The report's line; where nothing tells it, its times stay as they are."""
        return self.lines[report] or ClockLine()

    def clocks(self, members: Sequence[Member]) -> Clocks:
        """The clocks as series are built on them."""
        lines = [self.line(report) for report in range(len(self.lines))]
        return Clocks([member.report for member in members], lines, self.component_of)


def session_clocks(clocks: Sequence[Clock]) -> FittedClocks:
    """The sessions' clocks as they are: no two reports are on one."""
    lines = tuple(None if clock.offset_ns is None else ClockLine(clock.offset_ns) for clock in clocks)
    return FittedClocks(lines, tuple(range(len(clocks))), (None,) * len(clocks))


def fit_clocks(
    clocks: Sequence[Clock], members: Sequence[Member], operations: Operations, series: Sequence[Series]
) -> FittedClocks:
    """The lines between reports go by the medians of ends' differences, from the pair with most common instances on."""
    report_of = np.array([member.report for member in members], np.int64)
    common = _common_ends(report_of, operations, series)
    first = session_clocks(clocks)
    lines, component_of = list(first.lines), list(first.component_of)
    neighbours: defaultdict[int, list[tuple[int, ClockLine]]] = defaultdict(list)
    for one, other in _spanning_links(common, component_of):
        ends_ns, ahead_ns = common[one, other]
        onto_one = line_through(ends_ns, ahead_ns)
        neighbours[one].append((other, onto_one))
        neighbours[other].append((one, onto_one.inverse()))
    _spread(lines, neighbours)
    fitted = FittedClocks(tuple(lines), tuple(component_of), first.residual_ns)
    return replace(fitted, residual_ns=_residuals(fitted, report_of, operations, series))


def _symmetric_tables(report_of: Int64Array, series: Sequence[Series]) -> Iterator[tuple[Int64Array, Int64Array]]:
    """The instances of each symmetric series, with the report of each column."""
    for one in series:
        if one.meeting is Meeting.SYMMETRIC and len(one.members) > 1:
            yield one.table, report_of[list(one.members)]


def _common_ends(
    report_of: Int64Array, operations: Operations, series: Sequence[Series]
) -> dict[tuple[int, int], Int64Array]:
    """By two reports, of a series' first column and another: ends on the second one's clock, and what it is ahead."""
    found: defaultdict[tuple[int, int], list[Int64Array]] = defaultdict(list)
    for table, reports in _symmetric_tables(report_of, series):
        for column in np.flatnonzero(reports != reports[0]).tolist():
            both = (table[:, 0] >= 0) & (table[:, column] >= 0)
            ends_ns = operations.end_ns[table[both, column]]
            if len(ends_ns):
                ahead_ns = ends_ns - operations.end_ns[table[both, 0]]
                found[int(reports[0]), int(reports[column])].append(np.stack([ends_ns, ahead_ns]))
    return {pair: np.concatenate(pieces, axis=1) for pair, pieces in found.items()}


def _spanning_links(common: dict[tuple[int, int], Int64Array], component_of: list[int]) -> list[tuple[int, int]]:
    """Pairs of reports that link all that can be linked, those with most common instances first."""
    links = []
    for one, other in sorted(common, key=lambda pair: (-common[pair].shape[1], pair)):
        first, second = component_of[one], component_of[other]
        if first != second:
            links.append((one, other))
            kept, gone = min(first, second), max(first, second)
            component_of[:] = [kept if component == gone else component for component in component_of]
    return links


def _spread(lines: list[ClockLine | None], neighbours: dict[int, list[tuple[int, ClockLine]]]) -> None:
    """Give every report the line that its links to the first of its component tell; that one keeps its own."""
    reached: set[int] = set()
    for root in range(len(lines)):
        if root in reached:
            continue
        reached.add(root)
        waiting = [root]
        while waiting:
            report = waiting.pop()
            for other, onto_report in neighbours.get(report, ()):
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
                    lines[other] = onto_report.then(lines[report] or ClockLine())


def _residuals(
    fitted: FittedClocks, report_of: Int64Array, operations: Operations, series: Sequence[Series]
) -> tuple[int | None, ...]:
    found: defaultdict[int, list[np.ndarray]] = defaultdict(list)
    for table, reports in _symmetric_tables(report_of, series):
        whole = table[(table >= 0).all(axis=1)]
        columns = [
            fitted.line(report).moved(operations.end_ns[whole[:, column]])
            for column, report in enumerate(reports.tolist())
        ]
        ends = np.stack(columns, axis=1)
        apart = np.abs(ends - np.median(ends, axis=1, keepdims=True))
        for column, report in enumerate(reports.tolist()):
            found[report].append(apart[:, column])
    pooled = {report: np.concatenate(pieces) for report, pieces in found.items()}
    return tuple(
        round(float(np.median(pooled[report]))) if report in pooled and len(pooled[report]) else None
        for report in range(len(fitted.lines))
    )
