"""The collectives of a job: members, ranks, operations, instances, the clock they share, and who waited how long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from nsysan.attribution.clocks import Clock
from nsysan.attribution.collectives.calls import CallsOfReport
from nsysan.attribution.collectives.calls_of_report import calls_of
from nsysan.attribution.collectives.clock_fit import FittedClocks, fit_clocks, session_clocks
from nsysan.attribution.collectives.clock_line import ClockLine
from nsysan.attribution.collectives.communicators import Communicators
from nsysan.attribution.collectives.kinds import Meeting
from nsysan.attribution.collectives.logged_calls import LoggedCalls, LogUse, with_logs
from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.collectives.members import Member
from nsysan.attribution.collectives.operations import NONE, JobOperations, Operations, operations_of
from nsysan.attribution.collectives.pipelines import Pipeline, pipelines_of
from nsysan.attribution.collectives.ranks import RankChoice, Ranks, ranks_of
from nsysan.attribution.collectives.series import Pairing, Series, all_series
from nsysan.attribution.collectives.waiting import waits_of
from nsysan.attribution.host import Host
from nsysan.model.arrays import Int64Array
from nsysan.model.nccl_log import NcclLog
from nsysan.model.tables import ABSENT
from nsysan.model.trace import RankSource


class JobCollectives:
    """Each part is worked out when first asked for."""

    def __init__(  # noqa: PLR0913 -- what is known of communication, each by its name
        self,
        hosts: Sequence[Host],
        clocks: Sequence[Clock],
        members: Sequence[Member],
        choice: RankChoice,
        logs: Sequence[NcclLog] = (),
        *,
        calls: Sequence[CallsOfReport] = (),
    ) -> None:
        """``calls`` are those of all reports where the traces do not tell them."""
        self._hosts = tuple(hosts)
        self._session_clocks = tuple(clocks)
        self._choice = choice
        self._logs = tuple(logs)
        self._given_calls = tuple(calls)
        self.members = tuple(members)
        self._last_series: tuple[FittedClocks, list[Series]] | None = None

    @property
    def has_operations(self) -> bool:
        """Whether any member communicates."""
        return any(member.communicates for member in self.members)

    @cached_property
    def _logged(self) -> LoggedCalls:
        found = self._given_calls or [calls_of(host, report) for report, host in enumerate(self._hosts)]
        return with_logs(found, self._hosts, self._logs)

    @property
    def calls(self) -> tuple[CallsOfReport, ...]:
        """The communication calls of each report."""
        return self._logged.calls

    @property
    def log_uses(self) -> tuple[LogUse, ...]:
        """What each log of NCCL gave, in their order."""
        return self._logged.uses

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of each member. Raises UsageError where what the user says of ranks cannot be."""
        introductions = [told for calls in self.calls for told in calls.introductions]
        return ranks_of([host.trace for host in self._hosts], self.members, introductions, self._choice)

    @cached_property
    def communicators(self) -> Communicators:
        """The communicators that calls name."""
        return Communicators(self.members, self.ranks, self.calls)

    @cached_property
    def found(self) -> JobOperations:
        """The operations of all members."""
        return operations_of(self._hosts, self.members, self.calls, self.communicators)

    @property
    def operations(self) -> Operations:
        """Their table."""
        return self.found.operations

    @property
    def session_clocks(self) -> FittedClocks:
        """The reports' own clocks, no ends being compared."""
        return session_clocks(self._session_clocks)

    @cached_property
    def fitted_clocks(self) -> FittedClocks:
        """What puts every report's times on one axis, as far as common collectives tell."""
        first = self.session_clocks
        if len(self.members) <= 1 or not len(self.operations):
            return first
        coarse = fit_clocks(self._session_clocks, self.members, self.operations, self._series_on(first))
        if len(self._hosts) == 1:
            # it is on its own clock already
            return coarse
        # once more on the first answer's clock, on which the shift of short and irregular series is plain
        return fit_clocks(self._session_clocks, self.members, self.operations, self._series_on(coarse))

    @cached_property
    def clocks(self) -> tuple[Clock, ...]:
        """The clock of each report with the fitted offset and drift."""
        lines = zip(self._session_clocks, self.fitted_clocks.lines, strict=True)
        return tuple(
            clock if line is None else replace(clock, offset_ns=line.offset_ns, drift_frac=line.drift_frac)
            for clock, line in lines
        )

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Every series with its waits."""
        return tuple(self._measure(series) for series in self._series_on(self.fitted_clocks))

    @cached_property
    def waits_ns(self) -> Int64Array:
        """How long each operation waited, as its begin; ABSENT where that is not known."""
        found = np.full(len(self.operations), ABSENT)
        for one in self.measured:
            if one.waits is not None:
                found[one.complete_table] = one.waits.wait_ns
        return found

    @cached_property
    def pipelines(self) -> tuple[Pipeline, ...]:
        """The pipelines that messages between two show."""
        return pipelines_of(self.measured, self.operations, self.ranks.of_member)

    @property
    def rank_source(self) -> RankSource | None:
        """What tells the ranks; None where nothing does and there is no order to count a single one in."""
        source = self.ranks.source
        return None if len(self.members) <= 1 and source is RankSource.DEVICE_ORDER else source

    def rank_of_report(self, report: int) -> int | None:
        """The rank that a report is of, None where it has several or none, or nothing tells."""
        if self.rank_source is None:
            return None
        own = [rank for member, rank in zip(self.members, self.ranks.of_member, strict=True) if member.report == report]
        return own[0] if len(own) == 1 else None

    def rows_of(self, member: int) -> slice:
        """Where a member's operations lie in the table."""
        begin, end = np.searchsorted(self.operations.member, [member, member + 1]).tolist()
        return slice(begin, end)

    def line(self, member: int) -> ClockLine:
        """What puts a member's times on the common clock."""
        return self.fitted_clocks.line(self.members[member].report)

    def shift_ns(self, member: int) -> int:
        """What to add to a member's times to have them on the common clock, around the middle of its operations."""
        starts_ns = self.operations.start_ns[self.rows_of(member)]
        middle_ns = int(starts_ns[0] + starts_ns[-1]) // 2 if len(starts_ns) else 0
        return self.line(member).shift_at(middle_ns)

    def node_count(self, members: Sequence[int]) -> int | None:
        """On how many hosts the members ran, None where one of them is not told."""
        hosts = {self._hosts[self.members[member].report].trace.identity.host for member in members}
        return None if None in hosts else len(hosts)

    def _series_on(self, clocks: FittedClocks) -> list[Series]:
        """The series as these clocks tell them, kept until others are asked for: fitting often changes nothing."""
        clocks = replace(clocks, residual_ns=())
        if self._last_series is None or self._last_series[0] != clocks:
            self._last_series = (clocks, self._paired(clocks))
        return self._last_series[1]

    def _paired(self, clocks: FittedClocks) -> list[Series]:
        pairing = Pairing(
            found=self.found,
            communicators=self.communicators.all,
            missing_count=self.ranks.missing_count,
            is_contested=self.ranks.contested is not None,
            clocks=clocks.clocks(self.members),
        )
        return all_series(pairing)

    def _measure(self, series: Series) -> Measured:
        table = series.table[series.complete]
        if series.unresolved is not None or not len(table):
            return Measured(series, table, None)
        start_ns, end_ns = self.operations.start_ns[table], self.operations.end_ns[table]
        if series.meeting is not Meeting.SYMMETRIC:
            start_ns, end_ns = self._on_common_clock(series, start_ns), self._on_common_clock(series, end_ns)
        return Measured(series, table, waits_of(series.meeting, start_ns, end_ns, self._root_columns(series, table)))

    def _on_common_clock(self, series: Series, times_ns: Int64Array) -> Int64Array:
        """Times by instance and rank, on the clock that all share."""
        lines = [self.line(member) for member in series.members]
        return np.stack([line.moved(own_ns) for line, own_ns in zip(lines, times_ns.T, strict=True)], axis=1)

    def _root_columns(self, series: Series, table: Int64Array) -> Int64Array:
        """Which column of each instance is its root's; 0 where it has none."""
        if series.communicator == NONE:
            return np.zeros(len(table), np.int64)
        rank_of = self.communicators.all[series.communicator].rank_of
        column_of = {rank_of[member]: column for column, member in enumerate(series.members) if member in rank_of}
        roots = self.operations.root[table[:, 0]]
        return np.array([column_of.get(root, 0) for root in roots.tolist()], np.int64)
