"""What idle GPUs waited for: one cause a nanosecond, as a bar over all GPUs and exactly for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_causes import IdleByCause
from nsysan.model.idle import Cause
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import format_duration, format_fraction
from nsysan.report.axis import share_axis
from nsysan.report.cause_tables import cause_bars, cause_table, start_up_table
from nsysan.report.causes import (
    awaited,
    cause_fill,
    cause_shares,
    cause_term,
    class_of_cause,
    explained_gpus,
)
from nsysan.report.elements import Bar, Table, Term, Tick, stacked_bar
from nsysan.report.partition import choice_of_gpus, worst_gpus
from nsysan.report.prose import listed, paired, spelled
from nsysan.report.section import Section, Unanswered, View, unanswered

SHOWN_GPU_COUNT = 16


@dataclass(frozen=True, slots=True)
class CauseEntry:
    """A cause with its share of the window and of which class it is, which stand under the bar as its legend."""

    fill: str
    term: Term
    label: str
    share: str
    detail: str
    class_name: str


@dataclass(frozen=True, slots=True)
class CausesView(View):
    """The idle time of all GPUs as a bar of its causes, and tables of each GPU. ``choice`` says which are shown."""

    bar: Bar
    ticks: tuple[Tick, ...]
    legend: tuple[CauseEntry, ...]
    choice: str | None
    tables: tuple[Table, ...]


def _build(run: Run) -> CausesView | Unanswered | None:
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped) or not any(gpu.time.idle_ns for gpu in gpu_time.gpus):
        return None
    shares = cause_shares(gpu_time)
    if not shares:
        causes = run.results.get(IdleByCause)
        return unanswered(causes, "what the GPUs waited for") if isinstance(causes, Skipped) else None
    shown = worst_gpus([gpu for gpu, _ in explained_gpus(gpu_time.gpus)], SHOWN_GPU_COUNT)
    bars = (cause_bars(shown),) if len(shown) > 1 else ()
    start_up = start_up_table(gpu_time.devices)
    return CausesView(
        heading=_heading(gpu_time, shares),
        context="Each nanosecond of idle time has one cause: what the host thread did that the GPU waited for. A host "
        "that waits while the GPU works costs nothing.",
        bar=_bar(shares),
        ticks=share_axis("of idle"),
        legend=tuple(_entry(gpu_time, cause, share) for cause, share in shares.items()),
        choice=choice_of_gpus(gpu_time, SHOWN_GPU_COUNT),
        tables=(*bars, cause_table(shown), *(() if start_up is None else (start_up,))),
    )


def _heading(gpu_time: GpuTime, shares: Mapping[Cause, float]) -> str:
    largest = max(shares, key=lambda cause: shares[cause])
    idle = sum(shares.values())
    subject = "The GPU" if len(gpu_time.gpus) == 1 else "On average GPUs"
    of_window = paired(format_fraction(shares[largest]), "of the", format_fraction(idle))
    return f"{subject} waited for {awaited(largest)} for {of_window} of the window in which nothing ran"


def _bar(shares: Mapping[Cause, float]) -> Bar:
    idle = sum(shares.values())
    words = listed([f"{spelled(cause)} {format_fraction(share / idle)}" for cause, share in shares.items()])
    return stacked_bar([(cause_fill(cause), share / idle) for cause, share in shares.items()], f"Idle time: {words}")


def _entry(gpu_time: GpuTime, cause: Cause, share: float) -> CauseEntry:
    return CauseEntry(
        fill=cause_fill(cause),
        term=cause_term(cause),
        label=spelled(cause),
        share=f"{100 * share:.1f}",
        detail=_detail(gpu_time, cause),
        class_name=class_of_cause(cause),
    )


def _detail(gpu_time: GpuTime, cause: Cause) -> str:
    """Of one GPU the time, of several the smallest and largest share of a window."""
    explained = explained_gpus(gpu_time.gpus)
    if len(explained) == 1:
        return format_duration(explained[0][1].of(cause))
    shares = [causes.of(cause) / gpu.time.window_ns for gpu, causes in explained]
    low, high = format_fraction(min(shares)), format_fraction(max(shares))
    return high if low == high else paired(low, "to", high)


SECTION = Section("causes", 21, "Causes", "Why the GPUs waited", _build)
