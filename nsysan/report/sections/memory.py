"""How much GPU memory is taken, over time, and what the steps hold of allocations and pageable copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.memory import Memory, MemoryOfGpu, MemoryReport, MemorySource
from nsysan.analysis.recomputation import Recomputation
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.stages import StageSource
from nsysan.model.units import counted, format_bytes, format_duration, format_fraction
from nsysan.report.elements import ColumnChart, Table, Tick
from nsysan.report.memory_chart import Span, memory_axis, memory_chart, memory_span
from nsysan.report.memory_tables import fault_table, gpu_table, recomputed_table, step_memory_table
from nsysan.report.prose import capitalized, ended
from nsysan.report.section import Layout, Section, View

SOURCE_NAMES = {
    MemorySource.DRIVER_RESERVED: "handed out by the driver",
    MemorySource.ALLOCATOR_RESERVED: "reserved by PyTorch's allocator",
    MemorySource.ALLOCATOR_USED: "in use in PyTorch's allocator",
}


class MemoryView(View, frozen=True):
    """The memory of the fullest GPU as columns, what is to be said of memory, and tables."""

    chart: ColumnChart | None
    ticks: tuple[Tick, ...]
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> MemoryView | None:
    found, again = run.results.get(Memory), run.results.get(Recomputation)
    if isinstance(found, Skipped):
        return None
    memory = found.memory
    fullest = fullest_of(memory.gpus)
    span = None if fullest is None else memory_span(fullest, _window(run, fullest.gpu))
    tables = (
        gpu_table(memory.gpus),
        step_memory_table(memory.in_steps),
        None if isinstance(again, Skipped) else recomputed_table(again.recomputed_kernels),
        fault_table(memory.page_faults),
    )
    return MemoryView(
        heading=memory_sentence(memory),
        context=None if fullest is None else _context(fullest),
        chart=None if fullest is None else memory_chart(fullest, span),
        ticks=memory_axis(span),
        sentences=(
            *step_sentences(memory),
            *(() if isinstance(again, Skipped) else recomputation_sentences(again)),
            *(ended(capitalized(reason)) for reason in memory.unknown.values()),
        ),
        tables=tuple(table for table in tables if table is not None),
    )


def _window(run: Run, gpu: str) -> Span | None:
    found = run.results.get(GpuTime)
    gpus = () if isinstance(found, Skipped) else found.gpus
    return next(((one.window_start_ns, one.window_end_ns) for one in gpus if one.id == gpu), None)


def recomputation_sentences(found: Recomputation) -> Iterator[str]:
    """How much of the steps goes into computing activations again, on the device with the largest share."""
    known = [device for device in found.recomputation if device.recomputed_frac is not None]
    if not known:
        return
    most = max(known, key=lambda device: device.recomputed_frac or 0.0)
    if not most.recomputed_count or most.confidence is None:
        yield "No kernel of the backward pass repeats the forward: activations are kept, not computed again."
        return
    told = "a range named so" if most.told_by is StageSource.RANGES else "threads and names of kernels"
    yield (
        f"{format_fraction(most.recomputed_frac or 0.0)} of the compute kernels' time in steady steps of {most.device} "
        f"repeats the forward inside the backward, to save memory (confidence {most.confidence.value}; the backward is "
        f"told by {told})."
    )


def fullest_of(gpus: Sequence[MemoryOfGpu]) -> MemoryOfGpu | None:
    """The GPU with the highest peak, as the driver counted it, else as the allocator reserved it."""
    for source in (MemorySource.DRIVER_RESERVED, MemorySource.ALLOCATOR_RESERVED):
        counted_so = [gpu for gpu in gpus if gpu.source is source]
        if counted_so:
            return max(counted_so, key=lambda gpu: gpu.peak_bytes)
    return None


def memory_sentence(memory: MemoryReport) -> str:
    """How full the fullest GPU is at its peak."""
    fullest = fullest_of(memory.gpus)
    if fullest is None:
        return "How much memory is taken was not recorded"
    of_all = ""
    if fullest.capacity_bytes is not None:
        share = format_fraction(fullest.peak_bytes / fullest.capacity_bytes)
        of_all = f", {share} of {format_bytes(fullest.capacity_bytes)}"
    return f"At its peak {format_bytes(fullest.peak_bytes)} of {fullest.gpu} are taken{of_all}"


def step_sentences(memory: MemoryReport) -> Iterator[str]:
    """Allocations and pageable copies inside steady steps, of the device that has most of each; none: nothing."""
    calls = [steps for steps in memory.in_steps if steps.allocator_call_count]
    if calls:
        worst = max(calls, key=lambda steps: steps.allocator_call_ns or 0)
        yield (
            f"{counted(worst.allocator_call_count or 0, 'call')} in {counted(worst.step_count, 'steady step')} of "
            f"{worst.device} allocate or free memory. They take "
            f"{format_duration(worst.allocator_call_ns or 0)}, waits for the GPU included."
        )
    copies = [steps for steps in memory.in_steps if steps.pageable_copy_count]
    if copies:
        worst = max(copies, key=lambda steps: steps.pageable_copy_ns)
        yield (
            f"{counted(worst.pageable_copy_count, 'copy')} of {format_bytes(worst.pageable_copy_bytes)} in steady "
            f"steps of {worst.device} go through pageable memory and take {format_duration(worst.pageable_copy_ns)}."
        )


def _context(fullest: MemoryOfGpu) -> str:
    return (
        f"Shown is {fullest.gpu}: memory {SOURCE_NAMES[fullest.source]}. What was taken before recording began and "
        "kept to the end is not in it."
    )


SECTION = Section("memory", 62, "Memory", "How much GPU memory is taken", _build, Layout.WIDE)
