"""What the ranks told each other: each collective's waiting and transfer, its bandwidth, and who waited how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.collective_figures import collective_figures
from nsysan.analysis.collective_purposes import Told, purposes_of
from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collective_stages import common_stages, stage_of_code, stages_of_operations
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.of_reports import OfReport
from nsysan.analysis.registry import Analysis
from nsysan.analysis.yardstick import Yardstick, yardstick_of
from nsysan.attribution.collectives.exchanges import is_among_all, skew_of
from nsysan.attribution.collectives.exposure import Exposure
from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.collectives.operations import NONE
from nsysan.attribution.device_communication import DeviceCommunication, communication_of
from nsysan.attribution.job import Job
from nsysan.hardware.answers import Ceiling, spelled_level
from nsysan.hardware.bandwidth import bus_factor, rate_bytes_per_s
from nsysan.hardware.collective_ceilings import Exchange, RanksApart, collective_ceiling
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.ceilings import Mode
from nsysan.model.distinct import Distinct
from nsysan.model.figures import Figure
from nsysan.model.kernels import Collective
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.stages import Stage
from nsysan.model.tables import ABSENT
from nsysan.model.text import display_text
from nsysan.model.trace import RankSource

SHOWN_ROWS = 400
SIZES_APART = 16
"""Collectives of one series are told apart by size up to so many sizes; more of them are put together."""


class RankRow(msgspec.Struct, frozen=True):
    """A rank of the job and what it lost in collectives.

    ``wait_ns`` sums its waits; ``exposed_wait_ns`` is the time of its window that passed in a wait that nothing hid,
    ``unresolved_exposed_ns`` that in exposed communication of which waiting is not known. ``source`` is what tells the
    rank.
    """

    rank: int
    device: str
    source: RankSource
    wait_ns: int
    exposed_wait_ns: int
    unresolved_exposed_ns: int


class Collectives(msgspec.Struct, frozen=True):
    """The collectives of the job, most time first, and its ranks in their order.

    ``world_size`` is null where nothing tells how many ranks the job has.
    """

    id: ClassVar[str] = "collectives"

    collectives: tuple[CollectiveRow, ...]
    collectives_omitted_count: int
    ranks: tuple[RankRow, ...]
    world_size: int | None

    def figures(self) -> Iterator[Figure]:
        """Transfer and wait of the collectives, and how many there were."""
        return collective_figures(self.collectives)


def compute_collectives(job: Job, results: ResultSet) -> Collectives | Skipped:
    """The collectives of the job's windows, none where no communication kernel ran; skipped without GPU work."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return Skipped(Collectives.id, gpu_time.reason, gpu_time.recapture)
    return _collectives(job, communication_of(job))


def merge_collectives(job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> Collectives | Skipped:
    """The collectives of all reports."""
    return _collectives(
        job, {part.device(device): told for part in parts for device, told in part.communication.items()}
    )


def _collectives(job: Job, told: Mapping[str, DeviceCommunication]) -> Collectives:
    found = job.collectives
    places = [(place, told[member.id]) for place, member in enumerate(found.members) if member.id in told]
    exposure = Exposure({place: one.exposed for place, one in places}, {place: one.computing for place, one in places})
    inside = _inside_windows(job)
    stages = stages_of_operations(found, told)
    purposes = purposes_of(found, stages)
    yardstick = yardstick_of(job, job.gpus[0])
    tables = (_Rows(found, one, exposure, inside, stages, purposes, yardstick).rows() for one in found.measured)
    rows = [row for of_series in tables for row in of_series]
    rows.sort(key=lambda row: (-row.duration_ns, row.kind, row.ranks, row.bytes or 0, row.stage or ""))
    return Collectives(
        collectives=tuple(rows[:SHOWN_ROWS]),
        collectives_omitted_count=max(len(rows) - SHOWN_ROWS, 0),
        ranks=tuple(_rank_rows(job, exposure, inside)),
        world_size=found.ranks.world_size,
    )


ANALYSIS = Analysis(Collectives, compute_collectives, needs=(GpuTime,), merge=merge_collectives, of_communication=True)


def exposure_of(job: Job) -> Exposure:
    """The exposure of the members that are devices of the job."""
    devices = {device.id: device for device in job.devices}
    members = enumerate(job.collectives.members)
    return Exposure.of({place: devices[member.id].occupancy for place, member in members if member.id in devices})


def ranks_apart(found: JobCollectives, members: Sequence[int]) -> RanksApart:
    """How these members lie, and whether a process drives several of them."""
    own = [found.members[member] for member in members]
    processes = {(member.report, member.global_pid) for member in own}
    mode = Mode.PROCESS_PER_GPU if len(processes) == len(own) else Mode.ONE_PROCESS
    return RanksApart(len(own), found.node_count(members), mode)


def _inside_windows(job: Job) -> BoolArray:
    """Which operations lie in their device's window, if only in part; of a device that is left out none does."""
    operations, devices = job.collectives.operations, {device.id: device for device in job.devices}
    inside = np.zeros(len(operations), np.bool_)
    for place, member in enumerate(job.collectives.members):
        if member.id in devices:
            first_ns, last_ns = job.sums.of_device(devices[member.id]).window_ns
            own = job.collectives.rows_of(place)
            inside[own] = (operations.end_ns[own] > first_ns) & (operations.start_ns[own] < last_ns)
    return inside


class _Rows(msgspec.Struct, frozen=True):
    """The rows of one series: an instance counts where it lies in a window on some rank."""

    found: JobCollectives
    measured: Measured
    exposure: Exposure
    inside: BoolArray
    stages: Int64Array
    purposes: Sequence[Told | None]
    yardstick: Yardstick

    def rows(self) -> Iterator[CollectiveRow]:
        """A row for each size in each stage, or one for all sizes where there are many."""
        series = self.measured.series
        chosen = series.table[self._counts(series.table)]
        stages = common_stages(self.stages, chosen)
        for stage in Distinct.of(stages).values.tolist():
            table = chosen[stages == stage]
            sizes = self._sizes(table)
            values = Distinct.of(sizes).values
            if len(values) > SIZES_APART:
                yield self._row(table, sizes, None, stage_of_code(stage))
                continue
            for size in values.tolist():
                yield self._row(table[sizes == size], sizes[sizes == size], size, stage_of_code(stage))

    def _counts(self, table: Int64Array) -> BoolArray:
        return np.asarray(((table >= 0) & self.inside[table]).any(axis=1))

    def _sizes(self, table: Int64Array) -> Int64Array:
        """S of each instance: of what is sent to all a rank's mean, else the largest that a rank tells."""
        own = np.where(table >= 0, self.found.operations.size_bytes[table], ABSENT)
        known = own != ABSENT
        if self._is_sent_to_all:
            total = np.where(known, own, 0).sum(axis=1)
            return np.where(known.all(axis=1), total // table.shape[1], ABSENT)
        return np.asarray(own.max(axis=1, initial=ABSENT))

    @property
    def _is_sent_to_all(self) -> bool:
        series = self.measured.series
        is_all_to_all = self.found.found.kinds.members(series.kind) == (Collective.ALL_TO_ALL,)
        return is_all_to_all or is_among_all(series, self.found.operations)

    def _row(self, table: Int64Array, sizes: Int64Array, size: int | None, stage: Stage | None) -> CollectiveRow:
        found, series = self.found, self.measured.series
        known = _Known.of(self.measured, table, sizes)
        present = table[table >= 0]
        exposed_ns, contended_frac = self._exposed_ns(table), self._contended_frac(known)
        algbw = None if known is None else known.algbw()
        factor = self._factor()
        ranks = [found.ranks.of_member[member] for member in series.members]
        order = np.argsort(ranks).tolist()
        skew = skew_of(found.operations, table) if self._is_sent_to_all and series.is_whole else None
        waits = None if known is None else [int(known.wait_ns[:, column].sum()) for column in order]
        ceiling = self._ceiling(size)
        communicator = None if series.communicator == NONE else found.communicators.all[series.communicator]
        told = None if communicator is None else self.purposes[series.communicator]
        return CollectiveRow(
            kind=found.found.kinds.name(series.kind),
            backend=self._name(found.found.backends, found.operations.backend[present]),
            communicator=None if communicator is None else display_text(communicator.name),
            purpose=None if told is None else told.purpose,
            purpose_confidence=None if told is None else told.confidence,
            ranks=tuple(ranks[column] for column in order),
            nodes=found.node_count(series.members),
            dtype=self._name(found.found.dtypes, found.operations.dtype[present]),
            stage=stage,
            count=len(table),
            complete_count=int(((table >= 0).all(axis=1)).sum()) if series.is_whole else 0,
            bytes=None if size in {None, ABSENT} else size,
            duration_ns=int(found.operations.durations_ns[present].sum()),
            exposed_ns=exposed_ns,
            transfer_ns=None if known is None else int(known.transfer_ns.sum()),
            wait_ns=None if waits is None else sum(waits),
            wait_by_rank_ns=None if waits is None else tuple(waits),
            algbw_bytes_per_s=algbw,
            busbw_bytes_per_s=None if algbw is None or factor is None else algbw * factor,
            contended_frac=contended_frac,
            ceiling_bytes_per_s=None if ceiling is None else ceiling.rate,
            ceiling_source=None if ceiling is None else display_text(f"{ceiling.source} ({spelled_level(ceiling)})"),
            ceiling_level=None if ceiling is None else ceiling.level,
            unresolved=self._why(known),
            skew_ratio=None if skew is None else skew.ratio,
            busiest_rank=None if skew is None else ranks[skew.column],
        )

    def _why(self, known: _Known | None) -> str | None:
        if known is not None:
            return None
        return self.measured.series.unresolved or "no instance is there on all of its ranks"

    def _factor(self) -> float | None:
        if self._kind is None or self._joins_communicators:
            return None
        return bus_factor(self._kind, len(self.measured.series.members))

    def _ceiling(self, size: int | None) -> Ceiling | None:
        members = self.measured.series.members
        if self._kind is None or not size or size == ABSENT or not self.measured.series.is_whole:
            return None
        if self._joins_communicators:
            return None
        exchange = Exchange(self._kind, size, ranks_apart(self.found, members))
        return collective_ceiling(self.yardstick.ceilings, self.yardstick.sheet, exchange)

    @property
    def _joins_communicators(self) -> bool:
        """Whether some of the ranks name communicators and are yet paired without: of how many ranks is not known."""
        series = self.measured.series
        rows = series.table[series.table >= 0]
        return series.communicator == NONE and bool((self.found.operations.communicator[rows] != NONE).any())

    @property
    def _kind(self) -> Collective | None:
        """The single kind, None of a group of several."""
        kinds = self.found.found.kinds.members(self.measured.series.kind)
        if len(kinds) != 1:
            return None
        return Collective.ALL_TO_ALL if self._is_sent_to_all else kinds[0]

    def _exposed_ns(self, table: Int64Array) -> int:
        operations, total_ns = self.found.operations, 0
        for column, member in enumerate(self.measured.series.members):
            rows = table[table[:, column] >= 0, column]
            total_ns += int(self.exposure.exposed_ns(member, operations.start_ns[rows], operations.end_ns[rows]).sum())
        return total_ns

    def _contended_frac(self, known: _Known | None) -> float | None:
        """The share of the ranks' own transfers that ran beside computing; None where none is known to take time.

        A rank carries nothing before it begins, nor while it waits for a root.
        """
        if known is None:
            return None
        operations, computing_ns, carried_ns = self.found.operations, 0, 0
        for column, member in enumerate(self.measured.series.members):
            rows = known.table[:, column]
            end_ns = operations.end_ns[rows]
            after_wait_ns = end_ns - operations.start_ns[rows] - known.wait_ns[:, column]
            own_ns = np.minimum(known.transfer_ns, after_wait_ns)
            computing_ns += int(self.exposure.computing_ns(member, end_ns - own_ns, end_ns).sum())
            carried_ns += int(own_ns.sum())
        return computing_ns / carried_ns if carried_ns else None

    @staticmethod
    def _name(names: Sequence[str], places: Int64Array) -> str | None:
        """The name that all of them have."""
        place = int(places[0]) if len(places) and (places == places[0]).all() else NONE
        return None if place == NONE else display_text(names[place])


class _Known(msgspec.Struct, frozen=True, eq=False):
    """The complete instances among those of a row, with their waits and sizes."""

    table: Int64Array
    transfer_ns: Int64Array
    wait_ns: Int64Array
    sizes: Int64Array

    @classmethod
    def of(cls, measured: Measured, table: Int64Array, sizes: Int64Array) -> _Known | None:
        """Those of these instances of which something is known; None where that are none."""
        if measured.waits is None:
            return None
        # an instance is known by its operation on the first rank, which every complete one has
        places = np.full(int(measured.complete_table[:, 0].max(initial=0)) + 1, NONE)
        places[measured.complete_table[:, 0]] = np.arange(len(measured.complete_table))
        whole = (table >= 0).all(axis=1)
        rows = places[table[whole, 0]]
        if not len(rows):
            return None
        return cls(table[whole], measured.waits.transfer_ns[rows], measured.waits.wait_ns[rows], sizes[whole])

    def algbw(self) -> float | None:
        """Bytes over transfer of the instances whose size is known."""
        sized = self.sizes != ABSENT
        if not sized.any() or not int(self.sizes[sized].sum()):
            return None
        return rate_bytes_per_s(int(self.sizes[sized].sum()), int(self.transfer_ns[sized].sum()))


def _rank_rows(job: Job, exposure: Exposure, inside: BoolArray) -> Iterator[RankRow]:
    found = job.collectives
    operations, waits_ns = found.operations, found.waits_ns
    assert found.ranks.source is not None, "there are members"
    for member in sorted(exposure.exposed, key=lambda member: found.ranks.of_member[member]):
        own = found.rows_of(member)
        rows = np.flatnonzero(inside[own]) + own.start
        known, unknown = rows[waits_ns[rows] != ABSENT], rows[waits_ns[rows] == ABSENT]
        start_ns = operations.start_ns[known]
        yield RankRow(
            rank=found.ranks.of_member[member],
            device=found.members[member].id,
            source=found.ranks.source,
            wait_ns=int(waits_ns[known].sum()),
            exposed_wait_ns=exposure.exposed_union_ns(member, start_ns, start_ns + waits_ns[known]),
            unresolved_exposed_ns=exposure.exposed_union_ns(
                member, operations.start_ns[unknown], operations.end_ns[unknown]
            ),
        )
