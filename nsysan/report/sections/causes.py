"""What idle GPUs waited for: one cause a nanosecond, over all GPUs with a mark for each, and exactly."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_causes import IdleByCause
from nsysan.model.awaited import awaited
from nsysan.model.idle import Cause
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import LEAST_SHOWN_FRAC, format_fraction, rounds_to_zero
from nsysan.report.cause_chart import causes_over_gpus
from nsysan.report.cause_tables import cause_bars, cause_table, start_up_table
from nsysan.report.causes import cause_shares, explained_gpus
from nsysan.report.elements import Table
from nsysan.report.partition import choice_of_gpus, worst_gpus
from nsysan.report.prose import paired
from nsysan.report.section import Section, Unanswered, View, unanswered

SHOWN_GPU_COUNT = 16


class CausesView(View, frozen=True):
    """Tables: the causes over all GPUs, and those of each. ``choice`` says which GPUs are shown."""

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
        choice=choice_of_gpus(gpu_time, SHOWN_GPU_COUNT),
        tables=(
            causes_over_gpus(shares, shown, len(gpu_time.gpus)),
            *bars,
            cause_table(shown),
            *(() if start_up is None else (start_up,)),
        ),
    )


def _heading(gpu_time: GpuTime, shares: Mapping[Cause, float]) -> str:
    largest = max(shares, key=lambda cause: shares[cause])
    idle = fsum(shares.values())
    subject = "The GPU" if len(gpu_time.gpus) == 1 else "On average GPUs"
    if rounds_to_zero(idle):
        who = "The GPU idles" if len(gpu_time.gpus) == 1 else "On average GPUs idle"
        return f"{who} for less than {format_fraction(LEAST_SHOWN_FRAC)} of the window"
    of_window = paired(format_fraction(shares[largest]), "of the", format_fraction(idle))
    return f"{subject} waited for {awaited(largest)} for {of_window} of the window in which nothing ran"


SECTION = Section("causes", 21, "Causes", "Why the GPUs waited", _build)
