"""One clock for all reports: the sessions' own, corrected by the ends of collectives that all ranks end together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.clocks import Clock
from nsysan.attribution.collectives.kinds import Meeting
from nsysan.attribution.collectives.members import Member
from nsysan.attribution.collectives.operations import Operations
from nsysan.attribution.collectives.series import Clocks, Series
from nsysan.model.tables import Int64Array


@dataclass(frozen=True, slots=True)
class FittedClocks:
    """Per report: what to add to its times, which reports are on one clock, and how far its ends lie from the others'.

    Reports with equal ``component_of`` share collectives, directly or through others; the offsets of such are right to
    some 20 us among each other. ``residual_ns`` is the median distance of a report's ends of symmetric collectives from
    the middle end of each instance, null where it shares none.
    """

    offset_ns: tuple[int | None, ...]
    component_of: tuple[int, ...]
    residual_ns: tuple[int | None, ...]

    def clocks(self, members: Sequence[Member]) -> Clocks:
        """The clocks as series are built on them."""
        return Clocks([member.report for member in members], self.offset_ns, self.component_of)


def session_clocks(clocks: Sequence[Clock]) -> FittedClocks:
    """The sessions' clocks as they are: no two reports are on one."""
    offsets = tuple(clock.offset_ns for clock in clocks)
    return FittedClocks(offsets, tuple(range(len(clocks))), (None,) * len(clocks))


def fit_clocks(
    clocks: Sequence[Clock], members: Sequence[Member], operations: Operations, series: Sequence[Series]
) -> FittedClocks:
    """The offsets between reports are the median differences of ends, from the pair with most common instances on."""
    report_of = np.array([member.report for member in members], np.int64)
    differences = _differences(report_of, operations, series)
    offsets = [clock.offset_ns for clock in clocks]
    component_of = list(range(len(clocks)))
    links = _spanning_links(differences, component_of)
    neighbours: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for one, other in links:
        # the other report's ends read so much more than the first one's
        ahead_ns = round(float(np.median(differences[one, other])))
        neighbours[one].append((other, -ahead_ns))
        neighbours[other].append((one, ahead_ns))
    _spread(offsets, neighbours)
    fitted = FittedClocks(tuple(offsets), tuple(component_of), (None,) * len(clocks))
    residuals = _residuals(fitted, report_of, operations, series)
    return FittedClocks(fitted.offset_ns, fitted.component_of, residuals)


def _symmetric_tables(report_of: Int64Array, series: Sequence[Series]) -> Iterator[tuple[Int64Array, Int64Array]]:
    """The instances of each symmetric series, with the report of each column."""
    for one in series:
        if one.meeting is Meeting.SYMMETRIC and len(one.members) > 1:
            yield one.table, report_of[list(one.members)]


def _differences(
    report_of: Int64Array, operations: Operations, series: Sequence[Series]
) -> dict[tuple[int, int], Int64Array]:
    """By two reports, of a series' first column and another, how much later the second one's clock reads the ends."""
    found: defaultdict[tuple[int, int], list[Int64Array]] = defaultdict(list)
    for table, reports in _symmetric_tables(report_of, series):
        for column in np.flatnonzero(reports != reports[0]).tolist():
            both = (table[:, 0] >= 0) & (table[:, column] >= 0)
            ahead = operations.end_ns[table[both, column]] - operations.end_ns[table[both, 0]]
            if len(ahead):
                found[int(reports[0]), int(reports[column])].append(ahead)
    return {pair: np.concatenate(pieces) for pair, pieces in found.items()}


def _spanning_links(differences: dict[tuple[int, int], Int64Array], component_of: list[int]) -> list[tuple[int, int]]:
    """Pairs of reports that link all that can be linked, those with most common instances first."""
    links = []
    for one, other in sorted(differences, key=lambda pair: (-len(differences[pair]), pair)):
        first, second = component_of[one], component_of[other]
        if first != second:
            links.append((one, other))
            kept, gone = min(first, second), max(first, second)
            component_of[:] = [kept if component == gone else component for component in component_of]
    return links


def _spread(offsets: list[int | None], neighbours: dict[int, list[tuple[int, int]]]) -> None:
    """Give every report the offset that its links to the first of its component tell; that one keeps its own."""
    reached: set[int] = set()
    for root in range(len(offsets)):
        if root in reached:
            continue
        reached.add(root)
        waiting = [root]
        while waiting:
            report = waiting.pop()
            for other, shift_ns in neighbours.get(report, ()):
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
                    offsets[other] = (offsets[report] or 0) + shift_ns


def _residuals(
    fitted: FittedClocks, report_of: Int64Array, operations: Operations, series: Sequence[Series]
) -> tuple[int | None, ...]:
    shifts = np.array([offset or 0 for offset in fitted.offset_ns], np.int64)
    found: defaultdict[int, list[np.ndarray]] = defaultdict(list)
    for table, reports in _symmetric_tables(report_of, series):
        whole = table[(table >= 0).all(axis=1)]
        ends = operations.end_ns[whole] + shifts[reports]
        apart = np.abs(ends - np.median(ends, axis=1, keepdims=True))
        for column, report in enumerate(reports.tolist()):
            found[report].append(apart[:, column])
    pooled = {report: np.concatenate(pieces) for report, pieces in found.items()}
    return tuple(
        round(float(np.median(pooled[report]))) if report in pooled and len(pooled[report]) else None
        for report in range(len(fitted.offset_ns))
    )
