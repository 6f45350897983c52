"""The tables of contention: a row a GPU, a row a kernel that was slowed, a row a delay."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.contention import ContentionOfGpu, QueuedCommunication, SlowedKernel, Waits
from nsysan.model.units import format_duration, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.terms import TERMS

SHOWN_GPU_COUNT = 16
SHOWN_ROW_COUNT = 15
_NOT_COMPARED = Cell("not comparable", style="faint")
_NOT_RECORDED = Cell("not recorded", style="faint")


def gpu_table(gpus: Sequence[ContentionOfGpu]) -> Table:
    """Each GPU: what is hidden and what that costs, what waits, and what communicates where it computes."""
    return Table(
        id="contention-gpus",
        caption="Compute and communication on each GPU",
        columns=(
            Column("GPU"),
            Column("communication", TERMS["work"], numeric=True, unit="ns"),
            Column("hidden", TERMS["overlapped"], numeric=True, unit="ns"),
            Column("compared", TERMS["compared"], numeric=True, unit="ns"),
            Column("slowdown", TERMS["slowdown"], numeric=True, unit="ns"),
            Column("net gain", TERMS["slowdown"], numeric=True, unit="ns"),
            Column("queued", TERMS["queued"], numeric=True, unit="ns", notes="how often queued"),
            Column("compute waits", TERMS["compute_waits"], numeric=True, unit="ns", notes="how often it waits"),
            Column("on the compute stream", TERMS["same_stream"], numeric=True, unit="fraction"),
        ),
        rows=tuple(_gpu_row(gpu) for gpu in gpus[:SHOWN_GPU_COUNT]),
        source="contention[]",
    )


def slowed_table(kernels: Sequence[SlowedKernel]) -> Table | None:
    """The kernels that lose most time beside communication; None where none was compared."""
    if not kernels:
        return None
    return Table(
        id="slowed-kernels",
        caption="Compute kernels alone and beside communication: the same name, grid and block",
        columns=(
            Column("Kernel"),
            Column("GPU"),
            Column("grid"),
            Column("block"),
            Column("alone", TERMS["median"], numeric=True, unit="ns"),
            Column("beside", TERMS["median"], numeric=True, unit="ns"),
            Column("times", TERMS["times_as_long"], numeric=True),
            Column("slowdown", TERMS["slowdown"], numeric=True, unit="ns"),
        ),
        rows=tuple(_slowed_row(kernel) for kernel in kernels[:SHOWN_ROW_COUNT]),
        source="slowed_kernels[]",
        fold="alone and beside communication",
    )


def queued_table(delays: Sequence[QueuedCommunication]) -> Table | None:
    """The longest delays of communication behind compute; None where there is none."""
    if not delays:
        return None
    return Table(
        id="queued-communication",
        caption="Communication that was ready and began when compute had ended that was launched later",
        columns=(
            Column("Kernel"),
            Column("GPU"),
            Column("begins at", TERMS["session_time"], numeric=True, unit="ns"),
            Column("stood ready for", TERMS["queued"], numeric=True, unit="ns"),
            Column("behind"),
        ),
        rows=tuple(
            (
                Cell(delay.name, style="name"),
                Cell(delay.gpu),
                cells.moment(delay.start_ns),
                cells.duration(delay.delay_ns),
                Cell(delay.behind, style="name"),
            )
            for delay in delays[:SHOWN_ROW_COUNT]
        ),
        source="queued_communication[]",
    )


def _gpu_row(gpu: ContentionOfGpu) -> tuple[Cell, ...]:
    overlap = gpu.overlap
    figures = () if overlap is None else (overlap.compared_ns, overlap.slowdown_ns, overlap.net_gain_ns)
    return (
        Cell(gpu.gpu),
        cells.duration(gpu.communication_ns),
        cells.duration(gpu.hidden_ns),
        *((_NOT_COMPARED,) * 3 if overlap is None else (_signed(time_ns) for time_ns in figures)),
        _waits(gpu.queued),
        _waits(gpu.waiting),
        cells.fraction(gpu.same_stream.frac, ""),
    )


def _slowed_row(kernel: SlowedKernel) -> tuple[Cell, ...]:
    change = kernel.beside_median_ns / kernel.alone_median_ns - 1 if kernel.alone_median_ns else 0.0
    return (
        Cell(kernel.name, style="name"),
        Cell(kernel.gpu),
        Cell(" x ".join(map(str, kernel.grid))),
        Cell(" x ".join(map(str, kernel.block))),
        cells.duration(kernel.alone_median_ns),
        Cell(
            format_duration(kernel.beside_median_ns),
            f"{_sign(change)}{format_fraction(abs(change))}",
            value=kernel.beside_median_ns,
        ),
        cells.count(kernel.beside_count),
        _signed(kernel.slowdown_ns),
    )


def _waits(waits: Waits | None) -> Cell:
    if waits is None:
        return _NOT_RECORDED
    return Cell(
        format_duration(waits.total_ns), f"{waits.count:,} times" if waits.count else None, value=waits.total_ns
    )


def _signed(time_ns: int) -> Cell:
    """A time that may be less than nothing."""
    return Cell(f"{'-' if time_ns < 0 else ''}{format_duration(abs(time_ns))}", value=time_ns)


def _sign(value: float) -> str:
    return "-" if value < 0 else "+"
