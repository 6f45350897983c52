"""The tables of memory: a row a GPU, what the steady steps hold, and pages that were missed."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.memory import MemoryOfGpu, PageFaultsOfDevice
from nsysan.analysis.memory_in_steps import MemoryInSteps
from nsysan.analysis.recomputation import RecomputedKernel
from nsysan.model.units import format_count
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import spelled
from nsysan.report.terms import TERMS

SHOWN_COUNT = 32


def gpu_table(gpus: Sequence[MemoryOfGpu]) -> Table | None:
    """How much memory was in use on each GPU, by who counted it; None where nobody did."""
    if not gpus:
        return None
    return Table(
        id="memory-gpus",
        caption="Memory of each GPU, by who counted it",
        columns=(
            Column("GPU"),
            Column("counted as", TERMS["memory_source"]),
            Column("peak", TERMS["peak_memory"], numeric=True, unit="bytes"),
            Column("at", TERMS["session_time"], numeric=True, unit="ns"),
            Column("of all", TERMS["memory_share"], numeric=True, unit="fraction"),
            Column("from the start", TERMS["memory_at_start"], numeric=True, unit="bytes"),
            Column("at the end", TERMS["memory_events"], numeric=True, unit="bytes"),
            Column("events", TERMS["memory_events"], numeric=True),
        ),
        rows=tuple(_gpu_row(gpu) for gpu in gpus[:SHOWN_COUNT]),
        note=_omitted(len(gpus), "rows"),
        source="memory.gpus[]",
    )


def step_memory_table(in_steps: Sequence[MemoryInSteps]) -> Table | None:
    """Allocations and pageable copies in the steady steps of each device; None where there is neither."""
    if not any(steps.allocator_call_count or steps.pageable_copy_count for steps in in_steps):
        return None
    return Table(
        id="memory-steps",
        caption="What the steady steps of each device hold",
        columns=(
            Column("Device", TERMS["device"]),
            Column("steady", TERMS["steady"], numeric=True),
            Column("calls that allocate or free", TERMS["allocator"], numeric=True),
            Column("calls take", TERMS["in_steady_steps"], numeric=True, unit="ns"),
            Column("in steps", TERMS["in_steady_steps"], numeric=True),
            Column("pageable copies", TERMS["memory_kind"], numeric=True),
            Column("bytes", TERMS["in_steady_steps"], numeric=True, unit="bytes"),
            Column("copies take", TERMS["copy_time"], numeric=True, unit="ns"),
        ),
        rows=tuple(_step_row(steps) for steps in in_steps[:SHOWN_COUNT]),
        note=_omitted(len(in_steps), "devices"),
        source="memory.in_steps[]",
    )


def recomputed_table(kernels: Sequence[RecomputedKernel]) -> Table | None:
    """The kernels that run again in the backward; None where none does."""
    if not kernels:
        return None
    return Table(
        id="recomputed-kernels",
        caption="Kernels of the forward that run again in the backward, in the steady steps of all devices",
        columns=(
            Column("Kernel"),
            Column("count", TERMS["count"], numeric=True),
            Column("total", TERMS["kernel_time"], numeric=True, unit="ns"),
        ),
        rows=tuple(
            (Cell(kernel.name, style="name"), cells.count(kernel.count), cells.duration(kernel.total_ns))
            for kernel in kernels
        ),
        source="recomputed_kernels[]",
    )


def fault_table(faults: Sequence[PageFaultsOfDevice]) -> Table | None:
    """Pages of unified memory that were missed; None where that was not recorded."""
    if not faults:
        return None
    return Table(
        id="page-faults",
        caption="Pages of unified memory that were missed, in the whole capture",
        columns=(
            Column("Device", TERMS["device"]),
            Column("by the GPU", TERMS["page_fault"], numeric=True),
            Column("they take", TERMS["fault_time"], numeric=True, unit="ns"),
            Column("by the host", TERMS["page_fault"], numeric=True),
        ),
        rows=tuple(_fault_row(found) for found in faults[:SHOWN_COUNT]),
        note=_omitted(len(faults), "devices"),
        source="memory.page_faults[]",
    )


def _gpu_row(gpu: MemoryOfGpu) -> tuple[Cell, ...]:
    share = None if gpu.capacity_bytes is None else gpu.peak_bytes / gpu.capacity_bytes
    return (
        Cell(gpu.gpu),
        Cell(spelled(gpu.source.value)),
        cells.size(gpu.peak_bytes),
        cells.UNKNOWN if gpu.peak_at_ns is None else cells.moment(gpu.peak_at_ns),
        cells.fraction(share, "unknown"),
        cells.size(gpu.start_bytes),
        cells.size(gpu.end_bytes),
        cells.count(gpu.event_count),
    )


def _step_row(steps: MemoryInSteps) -> tuple[Cell, ...]:
    return (
        Cell(steps.device),
        cells.count(steps.step_count),
        _count(steps.allocator_call_count),
        cells.UNKNOWN if steps.allocator_call_ns is None else cells.duration(steps.allocator_call_ns),
        _count(steps.affected_step_count),
        cells.count(steps.pageable_copy_count),
        cells.size(steps.pageable_copy_bytes),
        cells.duration(steps.pageable_copy_ns),
    )


def _fault_row(found: PageFaultsOfDevice) -> tuple[Cell, ...]:
    return (
        Cell(found.device),
        _count(found.gpu_fault_count),
        cells.UNKNOWN if found.gpu_fault_ns is None else cells.duration(found.gpu_fault_ns),
        _count(found.host_fault_count),
    )


def _count(number: int | None) -> Cell:
    return cells.UNKNOWN if number is None else cells.count(number)


def _omitted(count: int, what: str) -> str | None:
    return f"{format_count(count - SHOWN_COUNT)} more {what} are in run.json." if count > SHOWN_COUNT else None
