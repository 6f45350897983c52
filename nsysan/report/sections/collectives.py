"""What ranks told each other: who waits for whom, and how fast the transfers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.pipelines import Pipelines
from nsysan.analysis.rank_waits import RankWaits
from nsysan.analysis.stragglers import Straggler
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.trace import RankSource
from nsysan.model.units import counted, format_duration
from nsysan.report.bandwidth_chart import BandwidthChart, bandwidth_chart
from nsysan.report.clock_words import clock_sentences
from nsysan.report.collective_tables import collective_table, rank_map, straggler_table
from nsysan.report.elements import Table
from nsysan.report.heat_map import HeatMap
from nsysan.report.late_ranks import straggler_sentence, stragglers_of
from nsysan.report.pipeline_table import pipeline_sentence, pipeline_table
from nsysan.report.section import Layout, Section, View
from nsysan.report.wait_map import wait_map

SKEWED_FROM = 1.1
_TOLD_BY = {
    RankSource.USER: "as --ranks says",
    RankSource.COMMUNICATOR: "as NCCL numbers them",
    RankSource.PROFILER: "as PyTorch's profiler recorded them",
    RankSource.MPI: "as MPI numbers them",
    RankSource.ENVIRONMENT: "as the environment of each process says",
    RankSource.FILE_NAME: "in the order of the files' names, which is a guess",
    RankSource.DEVICE_ORDER: "in the order of process and device, which is a guess",
}


class CollectivesView(View, frozen=True):
    """What is to be said, where each rank's time goes and who waits for whom, bandwidth over size, and tables."""

    sentences: tuple[str, ...]
    maps: tuple[HeatMap, ...]
    chart: BandwidthChart | None
    tables: tuple[Table, ...]


def _build(run: Run) -> CollectivesView | None:
    found = run.results.get(Collectives)
    if isinstance(found, Skipped) or not found.collectives:
        return None
    late, pipelines = stragglers_of(run), _pipelines_of(run)
    tables = (
        collective_table(found),
        straggler_table(late) if late else None,
        pipeline_table(pipelines) if pipelines.pipelines else None,
    )
    return CollectivesView(
        heading=collectives_heading(found),
        context="In a collective the ranks that come early wait for the last. Transfer is what remains: the shortest "
        "duration over the ranks. Durations alone are no network time.",
        sentences=tuple(_sentences(run, found)),
        maps=tuple(_maps(run, found, late)),
        chart=bandwidth_chart(found.collectives),
        tables=tuple(table for table in tables if table is not None),
    )


def _pipelines_of(run: Run) -> Pipelines:
    found = run.results.get(Pipelines)
    return Pipelines((), 0) if isinstance(found, Skipped) else found


def _maps(run: Run, found: Collectives, late: Sequence[Straggler]) -> Iterator[HeatMap]:
    gpu_time, waits = run.results.get(GpuTime), run.results.get(RankWaits)
    by_part = None if isinstance(gpu_time, Skipped) else rank_map(found, gpu_time, late)
    by_rank = None if isinstance(waits, Skipped) else wait_map(waits)
    yield from (shown for shown in (by_part, by_rank) if shown is not None)


def collectives_heading(found: Collectives) -> str:
    """How long ranks waited and how long the transfers took, or that this is not known."""
    known = [row for row in found.collectives if row.wait_ns is not None]
    if not known:
        total_ns = sum(row.duration_ns for row in found.collectives)
        return f"Collectives last {format_duration(total_ns)}: transfer or waiting for other ranks, unknown"
    wait_ns = sum(row.wait_ns or 0 for row in known)
    transfer_ns = sum(row.transfer_ns or 0 for row in known)
    return f"Ranks waited {format_duration(wait_ns)} for each other; the transfers took {format_duration(transfer_ns)}"


def _sentences(run: Run, found: Collectives) -> Iterator[str]:
    told = (
        straggler_sentence(found, stragglers_of(run)),
        pipeline_sentence(_pipelines_of(run).pipelines),
        _skew_sentence(found),
    )
    yield from (sentence for sentence in told if sentence is not None)
    if found.ranks:
        given = counted(len(found.ranks), "rank")
        of = "" if found.world_size in {None, len(found.ranks)} else f" of {found.world_size}"
        yield f"{given}{of}, numbered {_TOLD_BY[found.ranks[0].source]}."
    if unknown := sum(row.wait_ns is None for row in found.collectives):
        yield f"Of {counted(unknown, 'row')} it is not known what is waiting and what transfer; the table says why."
    if any(row.bytes is None for row in found.collectives):
        yield "Where a size is unknown it was not recorded, or differs: nsysan record-help --question nccl-bytes."

    yield from clock_sentences(run)


def _skew_sentence(found: Collectives) -> str | None:
    """Whether all-to-alls are uneven: then who gets how much comes before any link."""
    uneven = [(row.skew_ratio, row.busiest_rank) for row in found.collectives if row.skew_ratio is not None]
    ratio, rank = max(uneven, key=lambda entry: entry[0], default=(0.0, None))
    if ratio < SKEWED_FROM:
        return None
    return (
        f"All-to-alls are uneven: rank {rank} moves {ratio:.2f} times the mean of the ranks. "
        "Look at how tokens are routed and experts placed before the links."
    )


SECTION = Section("collectives", 48, "Collectives", "What the ranks waited for", _build, Layout.WIDE)
