"""The tables of collectives and stragglers, and the map of ranks by part."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives, RankRow
from nsysan.analysis.gpu_time import DeviceTimes, GpuTime
from nsysan.analysis.stragglers import Straggler
from nsysan.model.confidence import Confidence
from nsysan.model.partition import Part
from nsysan.model.units import counted, format_count, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.heat_map import HeatColumn, HeatMap, shades_of
from nsysan.report.late_ranks import why_sentence
from nsysan.report.prose import capitalized, spelled
from nsysan.report.terms import TERMS

SHOWN_RANKS = 32
CONTENDED_FROM_FRAC = 0.5
_MANY_RANKS = 8
_SURE = {Confidence.HIGH: "", Confidence.MEDIUM: "likely ", Confidence.LOW: "perhaps "}

_HEAT = (
    HeatColumn("computes", TERMS["compute_busy"], "compute"),
    HeatColumn("waits for ranks", TERMS["collective_wait"], "communication"),
    HeatColumn("other exposed comm.", TERMS["exposed_communication"], "communication"),
    HeatColumn("opaque graph", TERMS["opaque_graph"], "graph"),
    HeatColumn("exposed copy", TERMS["exposed_copy"], "copy"),
    HeatColumn("idle", TERMS["idle"], "idle"),
)


def collective_table(found: Collectives) -> Table:
    """A row for each kind, communicator, size and stage, the longest first; beside ceilings where any is known."""
    has_ceilings = any(row.ceiling_bytes_per_s is not None for row in found.collectives)
    return Table(
        id="collective-rows",
        caption="Collectives by kind, communicator, size and stage",
        columns=(
            Column("Collective", notes="remarks"),
            Column("ranks", notes="purpose"),
            Column("count", TERMS["count"], numeric=True, notes="complete"),
            Column("size", TERMS["collective_size"], numeric=True, unit="B"),
            Column("all ranks", TERMS["collective_duration"], numeric=True, unit="ns"),
            Column("exposed", TERMS["exposed_communication"], numeric=True, unit="ns"),
            Column("waiting", TERMS["collective_wait"], numeric=True, unit="ns"),
            Column("transfer", TERMS["transfer"], numeric=True, unit="ns"),
            Column("algbw", TERMS["algbw"], numeric=True, unit="B/s"),
            Column("busbw", TERMS["busbw"], numeric=True, unit="B/s"),
            Column("contended", TERMS["contended"], numeric=True, unit="fraction"),
            *(
                (Column("of ceiling", TERMS["collective_ceiling"], numeric=True, unit="fraction"),)
                if has_ceilings
                else ()
            ),
        ),
        rows=tuple(
            (*_collective_cells(row), *((_ceiling_cell(row),) if has_ceilings else ())) for row in found.collectives
        ),
        note=_note(found),
        search="all_reduce, send",
        source="collectives[]",
    )


def straggler_table(stragglers: Sequence[Straggler]) -> Table:
    """A row for each rank that others waited for."""
    return Table(
        id="straggler-rows",
        caption="Ranks that came last, and what others waited for each",
        columns=(
            Column("Rank", notes="remarks"),
            Column("came last", TERMS["came_last"], numeric=True),
            Column("of", TERMS["came_last"], numeric=True),
            Column("share", TERMS["came_last"], numeric=True, unit="fraction"),
            Column("how late", TERMS["lateness"], numeric=True, unit="ns"),
            Column("others waited", TERMS["collective_wait"], numeric=True, unit="ns"),
            Column("why"),
        ),
        rows=tuple(_straggler_cells(one) for one in stragglers),
        source="stragglers[]",
        fold="who came last",
    )


def rank_map(found: Collectives, gpu_time: GpuTime, stragglers: Sequence[Straggler]) -> HeatMap | None:
    """Where each rank's window goes; of many ranks those that wait longest and those waited for. None for one rank."""
    devices = {device.id: device for device in gpu_time.devices if device.time.window_ns}
    ranks = [rank for rank in found.ranks if rank.device in devices]
    if len(ranks) <= 1:
        return None
    late = {one.rank for one in stragglers}
    shown = _shown_ranks(ranks, late)
    shares = [_shares(rank, devices[rank.device]) for rank in shown]
    names = [f"rank {rank.rank}" for rank in shown]
    omitted = len(ranks) - len(shown)
    if omitted:
        everything = [_shares(rank, devices[rank.device]) for rank in ranks]
        shares.insert(0, tuple(fmean(column) for column in zip(*everything, strict=True)))
        names.insert(0, "mean of all")
    kept = [place for place in range(len(_HEAT)) if any(row[place] for row in shares)]
    columns = tuple(_HEAT[place] for place in kept)
    rows = ((name, shades_of(columns, [row[place] for place in kept])) for name, row in zip(names, shares, strict=True))
    return HeatMap(
        id="rank-map",
        caption="Where each rank's window goes",
        row_label="Rank",
        columns=columns,
        rows=tuple(rows),
        note=_map_note(omitted, awaited_count=sum(rank.rank in late for rank in shown)),
        source="ranks[] and devices[].time",
    )


def _map_note(omitted: int, *, awaited_count: int) -> str | None:
    """Which ranks the map leaves out, and in which order those in it are."""
    if not omitted:
        return None
    first = "First those that others waited for, then those" if awaited_count else "Those first"
    return f"{first} that wait longest; {counted(omitted, 'more rank')}, which wait less, in run.json."


def _shown_ranks(ranks: Sequence[RankRow], late: set[int]) -> list[RankRow]:
    """All in their order; of more those that others waited for and those that wait longest, in that order."""
    if len(ranks) <= SHOWN_RANKS:
        return sorted(ranks, key=lambda rank: rank.rank)
    return sorted(ranks, key=lambda rank: (rank.rank not in late, -rank.exposed_wait_ns, rank.rank))[:SHOWN_RANKS]


def _shares(rank: RankRow, device: DeviceTimes) -> tuple[float, ...]:
    """Of the window, in the order of ``_HEAT``; they add up to 1."""
    time = device.time
    waiting_ns = min(rank.exposed_wait_ns, time.exposed_communication_ns)
    times_ns = (
        time.compute_only_ns + time.overlapped_ns + time.fused_ns,
        waiting_ns,
        time.exposed_communication_ns - waiting_ns,
        time.of(Part.OPAQUE_GRAPH),
        time.exposed_copy_ns,
        time.idle_ns,
    )
    return tuple(time_ns / time.window_ns for time_ns in times_ns)


def _collective_cells(row: CollectiveRow) -> tuple[Cell, ...]:
    return (
        Cell(capitalized(spelled(row.kind)), _remark(row)),
        Cell(_ranks_in_words(row.ranks), _purpose(row)),
        Cell(format_count(row.count), _incomplete(row), value=row.count),
        cells.UNKNOWN if row.bytes is None else cells.size(row.bytes),
        cells.duration(row.duration_ns),
        cells.duration(row.exposed_ns),
        cells.UNKNOWN if row.wait_ns is None else cells.duration(row.wait_ns),
        cells.UNKNOWN if row.transfer_ns is None else cells.duration(row.transfer_ns),
        cells.UNKNOWN if row.algbw_bytes_per_s is None else cells.rate(row.algbw_bytes_per_s),
        cells.UNKNOWN if row.busbw_bytes_per_s is None else cells.rate(row.busbw_bytes_per_s),
        cells.fraction(row.contended_frac, "unknown"),
    )


def _ceiling_cell(row: CollectiveRow) -> Cell:
    """The share of the ceiling that is reached; beside computing it is no measure of the link."""
    if row.busbw_bytes_per_s is None or row.ceiling_bytes_per_s is None:
        return cells.UNKNOWN
    share = row.busbw_bytes_per_s / row.ceiling_bytes_per_s
    return Cell(format_fraction(share), "contended" if is_contended(row) else None, value=share)


def is_contended(row: CollectiveRow) -> bool:
    """Whether so much of the transfer runs beside computing that its rate tells nothing of the link."""
    return row.contended_frac is not None and row.contended_frac >= CONTENDED_FROM_FRAC


def _remark(row: CollectiveRow) -> str | None:
    """Whose implementation, on which communicator, of what; and why nothing is known of waits."""
    told = [
        row.backend,
        None if row.communicator is None else f"communicator {row.communicator}",
        row.dtype,
        None if row.stage is None else f"in {spelled(row.stage)}",
        None if row.skew_ratio is None else f"rank {row.busiest_rank} moves {row.skew_ratio:.2f} times the mean",
        row.unresolved,
    ]
    return "; ".join(filter(None, told)) or None


def _purpose(row: CollectiveRow) -> str | None:
    """What the ranks share, and where no name says it, how sure that is."""
    if row.purpose is None or row.purpose_confidence is None:
        return None
    return f"{_SURE[row.purpose_confidence]}{spelled(row.purpose)}"


def _incomplete(row: CollectiveRow) -> str | None:
    return None if row.complete_count == row.count else f"{format_count(row.complete_count)} complete"


def _ranks_in_words(ranks: Sequence[int]) -> str:
    if len(ranks) > _MANY_RANKS:
        return f"{format_count(len(ranks))} ranks"
    return ", ".join(map(str, ranks))


def _straggler_cells(one: Straggler) -> tuple[Cell, ...]:
    return (
        Cell(f"rank {one.rank}", f"{one.device}; {one.pattern.value}", value=one.rank),
        cells.count(one.late_count),
        cells.count(one.instance_count),
        cells.fraction(one.late_frac, "unknown"),
        cells.duration(one.late_ns),
        cells.duration(one.caused_ns),
        Cell(capitalized(why_sentence(one.why))),
    )


def _note(found: Collectives) -> str | None:
    """What is not shown, and where ceilings come from."""
    omitted = found.collectives_omitted_count
    sources = dict.fromkeys(row.ceiling_source for row in found.collectives if row.ceiling_source is not None)
    told = (
        f"{counted(omitted, 'more row')}, shorter than these, are not shown." if omitted else None,
        f"Ceilings: {'; '.join(sources)}." if sources else None,
    )
    return " ".join(filter(None, told)) or None
