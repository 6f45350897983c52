"""What ranks told each other: who waits for whom, and how fast the transfers are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.stragglers import Straggler, Stragglers
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.trace import RankSource
from nsysan.model.units import counted, format_duration
from nsysan.report.collective_tables import collective_table, rank_map, straggler_sentence, straggler_table
from nsysan.report.elements import Table
from nsysan.report.heat_map import HeatMap
from nsysan.report.section import Layout, Section, View

_TOLD_BY = {
    RankSource.USER: "as --ranks says",
    RankSource.COMMUNICATOR: "as NCCL numbers them",
    RankSource.PROFILER: "as PyTorch's profiler recorded them",
    RankSource.MPI: "as MPI numbers them",
    RankSource.ENVIRONMENT: "as the environment of each process says",
    RankSource.FILE_NAME: "in the order of the files' names, which is a guess",
    RankSource.DEVICE_ORDER: "in the order of process and device, which is a guess",
}


@dataclass(frozen=True, slots=True)
class CollectivesView(View):
    """What is to be said, where each rank's time goes, and tables."""

    sentences: tuple[str, ...]
    rank_map: HeatMap | None
    tables: tuple[Table, ...]


def _build(run: Run) -> CollectivesView | None:
    found = run.results.get(Collectives)
    if isinstance(found, Skipped) or not found.collectives:
        return None
    gpu_time, late = run.results.get(GpuTime), stragglers_of(run)
    several = (straggler_table(late),) if late else ()
    return CollectivesView(
        heading=collectives_heading(found),
        context="In a collective the ranks that come early wait for the last. Transfer is what remains: the shortest "
        "duration over the ranks. Durations alone are no network time.",
        sentences=tuple(_sentences(found, late)),
        rank_map=None if isinstance(gpu_time, Skipped) else rank_map(found, gpu_time, late),
        tables=(collective_table(found), *several),
    )


def stragglers_of(run: Run) -> tuple[Straggler, ...]:
    """The ranks that others waited for, none where that is not known."""
    found = run.results.get(Stragglers)
    return () if isinstance(found, Skipped) else found.stragglers


def collectives_heading(found: Collectives) -> str:
    """How long ranks waited and how long the transfers took, or that this is not known."""
    known = [row for row in found.collectives if row.wait_ns is not None]
    if not known:
        total_ns = sum(row.duration_ns for row in found.collectives)
        return f"Collectives last {format_duration(total_ns)}: transfer or waiting for other ranks, unknown"
    wait_ns = sum(row.wait_ns or 0 for row in known)
    transfer_ns = sum(row.transfer_ns or 0 for row in known)
    return f"Ranks waited {format_duration(wait_ns)} for each other; the transfers took {format_duration(transfer_ns)}"


def _sentences(found: Collectives, late: tuple[Straggler, ...]) -> Iterator[str]:
    who = straggler_sentence(found, late)
    if who is not None:
        yield who
    if found.ranks:
        given = counted(len(found.ranks), "rank")
        of = "" if found.world_size in {None, len(found.ranks)} else f" of {found.world_size}"
        yield f"{given}{of}, numbered {_TOLD_BY[found.ranks[0].source]}."
    if unknown := sum(row.wait_ns is None for row in found.collectives):
        yield f"Of {counted(unknown, 'row')} it is not known what is waiting and what transfer; the table says why."
    if any(row.bytes is None for row in found.collectives):
        yield "Where a size is unknown it was not recorded, or differs: nsysan record-help --question nccl-bytes."


SECTION = Section("collectives", 48, "Collectives", "What the ranks waited for", _build, Layout.WIDE)
