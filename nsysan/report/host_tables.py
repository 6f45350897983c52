"""The tables of the host: threads, launches, waits, calls by function, sampled functions, contexts of GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.gpu_contexts import GpuContext
from nsysan.analysis.launches import LaunchesOfDevice
from nsysan.analysis.launching_threads import LaunchingThread, SampledFunction
from nsysan.analysis.named_calls import CallsOfName
from nsysan.analysis.synchronization import SynchronizationOfDevice
from nsysan.model.units import format_count
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import spelled
from nsysan.report.terms import TERMS

SHOWN_COUNT = 16
SHOWN_DEVICE_COUNT = 32


def thread_table(threads: Sequence[LaunchingThread]) -> Table:
    """The threads that launch work: how fast, and what they did instead."""
    return Table(
        id="launching-threads",
        caption="Threads that launch work",
        columns=(
            Column("Thread", notes="of"),
            Column("report", TERMS["report_number"], numeric=True),
            Column("launches", TERMS["launch_rate"], numeric=True),
            Column("a second", TERMS["launch_rate"], numeric=True),
            Column("in CUDA calls", TERMS["in_calls"], numeric=True, unit="ns"),
            Column("in OS calls", TERMS["in_calls"], numeric=True, unit="ns"),
            Column("off its core", TERMS["off_core"], numeric=True, unit="ns"),
            Column("left it", TERMS["off_core"], numeric=True),
        ),
        rows=tuple(_thread_row(thread) for thread in threads[:SHOWN_DEVICE_COUNT]),
        note=_omitted(len(threads), SHOWN_DEVICE_COUNT, "threads"),
        source="host.threads[]",
    )


def launch_table(launches: Sequence[LaunchesOfDevice]) -> Table:
    """How far the host was ahead of each device."""
    return Table(
        id="launches",
        caption="How work reached each device",
        columns=(
            Column("Device", TERMS["device"]),
            Column("launching calls", TERMS["launching_calls"], numeric=True),
            Column("take", TERMS["launching_calls"], numeric=True, unit="ns"),
            Column("call to work, median", TERMS["launch_to_work"], numeric=True, unit="ns"),
            Column("queue, median", TERMS["queue_depth"], numeric=True),
            Column("found it empty", TERMS["queue_depth"], numeric=True, unit="fraction"),
        ),
        rows=tuple(_launch_row(found) for found in launches[:SHOWN_DEVICE_COUNT]),
        note=_omitted(len(launches), SHOWN_DEVICE_COUNT, "devices"),
        source="launches[]",
        fold="launches",
    )


def wait_table(waits: Sequence[SynchronizationOfDevice]) -> Table:
    """Waits of the host for each device: while it worked, which costs nothing, and while it idled."""
    return Table(
        id="host-waits",
        caption="Waits for each device: while it worked, and while it idled",
        columns=(
            Column("Device", TERMS["device"]),
            Column("waits", TERMS["host_waits"], numeric=True),
            Column("in all", TERMS["host_wait"], numeric=True, unit="ns"),
            Column("device busy", TERMS["host_waits"], numeric=True, unit="ns"),
            Column("device idle", TERMS["host_waits"], numeric=True, unit="ns"),
            Column("told by"),
        ),
        rows=tuple(_wait_row(found) for found in waits[:SHOWN_DEVICE_COUNT]),
        note=_omitted(len(waits), SHOWN_DEVICE_COUNT, "devices"),
        source="synchronization[]",
        fold="waits",
    )


def call_table(table_id: str, caption: str, source: str, calls: Sequence[CallsOfName]) -> Table:
    """Calls by function, those with the most time on launching threads first."""
    return Table(
        id=table_id,
        caption=caption,
        columns=(
            Column("Function"),
            Column("count", TERMS["count"], numeric=True),
            Column("total", TERMS["call_time"], numeric=True, unit="ns"),
            Column("on launching threads", TERMS["call_time"], numeric=True, unit="ns"),
            Column("median", TERMS["median"], numeric=True, unit="ns"),
            Column("longest", TERMS["longest"], numeric=True, unit="ns"),
        ),
        rows=tuple(_call_row(found) for found in calls[:SHOWN_COUNT]),
        note=_omitted(len(calls), SHOWN_COUNT, "functions"),
        source=source,
    )


def function_table(functions: Sequence[SampledFunction]) -> Table:
    """Functions in which launching threads were found."""
    return Table(
        id="sampled-functions",
        caption="Functions in which launching threads were found on a core",
        columns=(
            Column("Function"),
            Column("samples", TERMS["samples"], numeric=True),
            Column("of all", TERMS["samples"], numeric=True, unit="fraction"),
        ),
        rows=tuple(
            (Cell(found.name, style="name"), cells.count(found.sample_count), cells.fraction(found.sample_frac, ""))
            for found in functions[:SHOWN_COUNT]
        ),
        note=_omitted(len(functions), SHOWN_COUNT, "functions"),
        source="host.functions[]",
        fold="samples",
    )


def context_table(contexts: Sequence[GpuContext]) -> Table:
    """Contexts that the GPUs ran, and whose they are."""
    return Table(
        id="gpu-contexts",
        caption="Contexts that the GPUs ran",
        columns=(
            Column("GPU"),
            Column("process", TERMS["process"], numeric=True),
            Column("recorded", TERMS["gpu_context"]),
            Column("turns", TERMS["turns"], numeric=True),
            Column("on the GPU", TERMS["gpu_context"], numeric=True, unit="ns"),
            Column("while recorded work idled", TERMS["turns"], numeric=True, unit="ns"),
        ),
        rows=tuple(_context_row(context) for context in contexts[:SHOWN_DEVICE_COUNT]),
        note=_omitted(len(contexts), SHOWN_DEVICE_COUNT, "contexts"),
        source="host.gpu_contexts[]",
        fold="contexts",
    )


def _thread_row(thread: LaunchingThread) -> tuple[Cell, ...]:
    process = "unknown process" if thread.pid is None else f"process {thread.pid}"
    return (
        Cell(str(thread.tid), process, value=thread.tid),
        cells.number(thread.report),
        cells.count(thread.launch_count),
        cells.count(round(thread.launches_per_s)),
        cells.duration(thread.cuda_ns),
        _duration(thread.os_ns),
        _duration(thread.off_core_ns),
        cells.UNKNOWN if thread.left_core_count is None else cells.count(thread.left_core_count),
    )


def _launch_row(found: LaunchesOfDevice) -> tuple[Cell, ...]:
    return (
        Cell(found.device),
        cells.count(found.call_count),
        cells.duration(found.call_ns),
        _duration(found.launch_latency_ns),
        cells.UNKNOWN if found.queue_depth is None else Cell(f"{found.queue_depth:g}", value=found.queue_depth),
        cells.fraction(found.empty_queue_frac, "unknown"),
    )


def _wait_row(found: SynchronizationOfDevice) -> tuple[Cell, ...]:
    return (
        Cell(found.device),
        cells.count(found.count),
        cells.duration(found.total_ns),
        cells.duration(found.in_busy_ns),
        cells.duration(found.in_idle_ns),
        Cell(spelled(found.source.value)),
    )


def _call_row(found: CallsOfName) -> tuple[Cell, ...]:
    return (
        Cell(found.name, style="name"),
        cells.count(found.count),
        cells.duration(found.total_ns),
        cells.duration(found.on_launching_ns),
        cells.duration(found.median_ns),
        cells.duration(found.longest_ns),
    )


def _context_row(context: GpuContext) -> tuple[Cell, ...]:
    recorded = {True: "yes", False: "no", None: "unknown"}[context.is_recorded]
    return (
        Cell(context.gpu or f"GPU {context.machine_gpu_id} of the machine"),
        cells.number(context.pid),
        Cell(recorded, style="strong" if context.is_recorded is False else None),
        cells.count(context.turn_count),
        cells.duration(context.resident_ns),
        _duration(context.in_idle_ns),
    )


def _duration(time_ns: float | None) -> Cell:
    return cells.UNKNOWN if time_ns is None else cells.duration(time_ns)


def _omitted(count: int, shown: int, what: str) -> str | None:
    return f"{format_count(count - shown)} more {what} are in run.json." if count > shown else None
