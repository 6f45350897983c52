"""What compute and communication cost each other on each GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.contention import Contention, ContentionOfGpu, Waits
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_duration, format_fraction
from nsysan.report.contention_tables import gpu_table, queued_table, slowed_table
from nsysan.report.elements import Table
from nsysan.report.section import Layout, Section, View

SHARED_FROM_FRAC = 0.05
"""From so much of the communication's time on the compute stream on, it is no stray kernel."""
SLOWED_FROM_FRAC = 0.02
"""A slowdown below that of the time compared lies within what durations vary by."""


class ContentionView(View, frozen=True):
    """What is to be said of all GPUs, and tables of GPUs, kernels and delays."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> ContentionView | None:
    found = run.results.get(Contention)
    if isinstance(found, Skipped):
        return None
    tables = (gpu_table(found.contention), slowed_table(found.slowed_kernels), queued_table(found.queued_communication))
    return ContentionView(
        heading=_heading(found.contention),
        context="Compute and communication share a GPU's multiprocessors, memory and queues: what is hidden is no gain "
        "by so much as it slows what hides it.",
        sentences=tuple(_sentences(found.contention)),
        tables=tuple(table for table in tables if table is not None),
    )


def _heading(gpus: Sequence[ContentionOfGpu]) -> str:
    queued = queued_sentence(gpus)
    is_compared = any(gpu.overlap is not None for gpu in gpus)
    return contention_sentence(gpus) if is_compared or queued is None else queued.rstrip(".")


def contention_sentence(gpus: Sequence[ContentionOfGpu]) -> str:
    """How much slower compute is beside communication, over all GPUs that tell."""
    compared = [gpu.overlap for gpu in gpus if gpu.overlap is not None]
    if not compared:
        return "No kernel ran both alone and beside communication, so none tells whether it slows down"
    compared_ns = sum(overlap.compared_ns for overlap in compared)
    slowdown_ns = sum(overlap.slowdown_ns for overlap in compared)
    if slowdown_ns < SLOWED_FROM_FRAC * compared_ns:
        return "Compute kernels are no slower beside communication than alone"
    return (
        f"Compute that also ran alone loses {format_duration(slowdown_ns)} in {format_duration(compared_ns)} beside "
        f"communication: {format_fraction((compared_ns - slowdown_ns) / compared_ns)} of their overlap is won"
    )


def queued_sentence(gpus: Sequence[ContentionOfGpu]) -> str | None:
    """The GPU on which communication waits longest behind compute, None where none does."""
    waits = [(gpu.gpu, gpu.queued) for gpu in gpus if gpu.queued is not None and gpu.queued.count]
    if not waits:
        return None
    name, queued = max(waits, key=lambda entry: entry[1].total_ns)
    return (
        f"On {name} {_stood(queued, 'communication kernel')} ready for {format_duration(queued.total_ns)} in all while "
        "compute ran that was launched later."
    )


def same_stream_sentence(gpus: Sequence[ContentionOfGpu]) -> str | None:
    """The GPU with the largest share of communication on its compute stream, None where that is a stray kernel."""
    worst = max(gpus, key=lambda gpu: gpu.same_stream.frac)
    if worst.same_stream.frac < SHARED_FROM_FRAC:
        return None
    share, kernels = format_fraction(worst.same_stream.frac), counted(worst.same_stream.count, "kernel")
    return (
        f"On {worst.gpu} {share} of the communication kernels' time ({kernels}) passes on the stream that computes, "
        "where nothing hides it."
    )


def _sentences(gpus: Sequence[ContentionOfGpu]) -> Iterator[str]:
    queued = queued_sentence(gpus)
    if queued is not None:
        yield queued
        yield (
            "More hardware queues (CUDA_DEVICE_MAX_CONNECTIONS), a stream of higher priority or multiprocessors left "
            "free for NCCL may let it begin; which of these helps depends on the architecture and on what sets them."
        )
    waits = [(gpu.gpu, gpu.waiting) for gpu in gpus if gpu.waiting is not None and gpu.waiting.count]
    if waits:
        name, waiting = max(waits, key=lambda entry: entry[1].total_ns)
        yield (
            f"On {name} {_stood(waiting, 'compute kernel')} launched and ready for "
            f"{format_duration(waiting.total_ns)} while communication ran that it began after."
        )
    shared = same_stream_sentence(gpus)
    if shared is not None:
        yield shared


def _stood(waits: Waits, noun: str) -> str:
    return f"{counted(waits.count, noun)} stood"


SECTION = Section("contention", 49, "Contention", "What compute and communication cost each other", _build, Layout.WIDE)
