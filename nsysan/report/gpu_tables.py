"""The tables that have a row a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.gpu_time import GpuTime, GpuTimes
from nsysan.model.partition import Part
from nsysan.model.units import NS_PER_MS, format_count, format_duration, format_fraction, format_timestamp
from nsysan.report.elements import Cell, Column, Table, stacked_bar
from nsysan.report.gpus import job_share, part_share
from nsysan.report.parts import part_label, part_term
from nsysan.report.terms import TERMS

_EMPTY = Cell("")


def gpu_bars(gpus: Sequence[GpuTimes]) -> Table:
    """A bar a GPU with the two shares that matter first."""
    return Table(
        id="gpu-bars",
        caption="Each GPU, its window from left to right",
        columns=(
            Column("GPU"),
            Column("Parts", bar=True),
            Column("compute busy", TERMS["compute_busy"], numeric=True),
            Column("idle", TERMS["idle"], numeric=True),
        ),
        rows=tuple(
            (
                Cell(gpu.id),
                Cell("", bar=stacked_bar([(part.value, part_share(gpu, part)) for part in Part])),
                Cell(fraction_or(gpu.compute_busy_frac, "no window")),
                Cell(format_fraction(part_share(gpu, Part.IDLE))),
            )
            for gpu in gpus
        ),
    )


def partition_table(gpu_time: GpuTime, gpus: Sequence[GpuTimes]) -> Table:
    """The partition in ms to the nanosecond with the shares below; mean and spread where there are several GPUs."""
    parts = tuple(Column(part_label(part), part_term(part), numeric=True) for part in Part)
    return Table(
        id="partition",
        caption="Time of each part in ms, exact: the parts of a row add up to its window. Below, its share.",
        columns=(Column("GPU"), *parts, Column("window", TERMS["window"], numeric=True)),
        rows=tuple(_partition_row(gpu, named=len({gpu.name for gpu in gpus}) > 1) for gpu in gpus),
        footers=_partition_footers(gpu_time) if len(gpu_time.gpus) > 1 else (),
    )


def busy_table(gpus: Sequence[GpuTimes]) -> Table:
    """How busy each GPU was, by every measure of it."""
    ranges = any(gpu.exposed_communication_max_ns != gpu.time.exposed_communication_ns for gpu in gpus)
    at_most = (Column("exposed comm., at most", TERMS["exposed_range"], numeric=True),) if ranges else ()
    return Table(
        id="busy",
        caption="How busy the GPUs were" if len(gpus) > 1 else "How busy the GPU was",
        columns=(
            Column("GPU"),
            Column("window begins", TERMS["session_time"], numeric=True),
            Column("compute busy", TERMS["compute_busy"], numeric=True),
            Column("device active", TERMS["device_active"], numeric=True),
            Column("overlap", TERMS["overlap"], numeric=True),
            *at_most,
            Column("work volume", TERMS["work"], numeric=True),
            Column("idle gaps", TERMS["gap"], numeric=True),
            Column("longest gap", TERMS["gap"], numeric=True),
        ),
        rows=tuple(_busy_row(gpu, ranges=ranges) for gpu in gpus),
    )


def exact_ms(duration_ns: int) -> str:
    """A duration in ms with all six decimals, so that a column adds up: ``294.404540``."""
    return f"{duration_ns // NS_PER_MS:,}.{duration_ns % NS_PER_MS:06d}"


def fraction_or(fraction: float | None, unknown: str) -> str:
    """A share, or the word for there being none."""
    return unknown if fraction is None else format_fraction(fraction)


def part_cells(gpu: GpuTimes) -> tuple[Cell, ...]:
    """A cell a part: its exact time, and its share below."""
    return tuple(Cell(exact_ms(gpu.time.of(part)), format_fraction(part_share(gpu, part))) for part in Part)


def _partition_row(gpu: GpuTimes, *, named: bool) -> tuple[Cell, ...]:
    return (Cell(gpu.id, gpu.name if named else None), *part_cells(gpu), Cell(exact_ms(gpu.time.window_ns), "100.0 %"))


def _partition_footers(gpu_time: GpuTime) -> tuple[tuple[Cell, ...], ...]:
    spreads = [job_share(gpu_time, part) for part in Part]
    means = (Cell(format_fraction(spread.mean_frac)) for spread in spreads)
    worst = (Cell(format_fraction(spread.worst_frac), spread.worst_gpu) for spread in spreads)
    return (
        (Cell("mean share"), *means, _EMPTY),
        (Cell("worst share"), *worst, _EMPTY),
    )


def _busy_row(gpu: GpuTimes, *, ranges: bool) -> tuple[Cell, ...]:
    at_most = (Cell(format_duration(gpu.exposed_communication_max_ns)),) if ranges else ()
    return (
        Cell(gpu.id),
        Cell(format_timestamp(gpu.window_start_ns)),
        Cell(fraction_or(gpu.compute_busy_frac, "no window")),
        Cell(fraction_or(gpu.device_active_frac, "no window")),
        Cell(fraction_or(gpu.overlap_frac, "no communication")),
        *at_most,
        Cell(format_duration(gpu.work_ns)),
        Cell(format_count(gpu.idle_gap_count)),
        Cell(format_duration(gpu.longest_idle_gap_ns)),
    )
