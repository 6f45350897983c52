"""Where the time of every GPU goes: the partition as bars and, to the nanosecond, as a table."""

from __future__ import annotations

from math import fsum

import msgspec

from nsysan.analysis.gpu_time import GpuTime, GpuTimes
from nsysan.model.partition import Part
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import format_duration, format_fraction
from nsysan.report.axis import share_axis, time_axis
from nsysan.report.elements import Bar, Table, Term, Tick, stacked_bar
from nsysan.report.partition import COMPUTE_PARTS, choice_of_gpus, job_share, part_term, share_range, worst_gpus
from nsysan.report.partition_tables import busy_table, device_tables, gpu_bars, partition_table
from nsysan.report.prose import listed, spelled
from nsysan.report.section import Section, Unanswered, View, unanswered

SHOWN_GPU_COUNT = 16

_VERBS = (
    (COMPUTE_PARTS, "computes", "compute"),
    ((Part.OPAQUE_GRAPH,), "runs opaque graphs", "run opaque graphs"),
    ((Part.EXPOSED_COMMUNICATION,), "communicates unhidden", "communicate unhidden"),
    ((Part.EXPOSED_COPY,), "copies unhidden", "copy unhidden"),
    ((Part.IDLE,), "idles", "idle"),
)
_ALWAYS_SAID = (COMPUTE_PARTS, (Part.IDLE,))
_NOTHING = (format_duration(0), format_fraction(0))


class LegendEntry(msgspec.Struct, frozen=True):
    """A part with its figures, which stand under the bar as its legend."""

    fill: str
    term: Term
    label: str
    share: str
    detail: str


class TimeView(View, frozen=True):
    """The bar over all GPUs with its legend, and the tables. ``choice`` says which GPUs are shown."""

    bar: Bar
    ticks: tuple[Tick, ...]
    legend: tuple[LegendEntry, ...]
    choice: str | None
    tables: tuple[Table, ...]


def _build(run: Run) -> TimeView | Unanswered:
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return unanswered(gpu_time, "where the GPU time went")
    shown = worst_gpus(gpu_time.gpus, SHOWN_GPU_COUNT)
    bars = (gpu_bars(shown),) if len(gpu_time.gpus) > 1 else ()
    return TimeView(
        heading=_heading(gpu_time),
        context=_context(gpu_time),
        bar=_bar(gpu_time),
        ticks=_ticks(gpu_time),
        legend=tuple(_legend_entry(gpu_time, part) for part in Part),
        choice=choice_of_gpus(gpu_time, SHOWN_GPU_COUNT),
        tables=(
            *bars,
            partition_table(gpu_time, shown),
            busy_table(shown),
            *device_tables(gpu_time, shown, run.reports),
        ),
    )


def _heading(gpu_time: GpuTime) -> str:
    """The computing time, then every other part with a figure other than zero, then idle."""
    single = gpu_time.gpus[0] if len(gpu_time.gpus) == 1 else None
    clauses = []
    for parts, one, many in _VERBS:
        amount = _amount_of(gpu_time, single, parts)
        if parts in _ALWAYS_SAID or amount not in _NOTHING:
            clauses.append(f"{many if single is None else one} for {amount}")
    if single is None:
        return f"On average GPUs {listed(clauses)} of the window"
    return f"Of {format_duration(single.time.window_ns)} the GPU {listed(clauses)}"


def _amount_of(gpu_time: GpuTime, single: GpuTimes | None, parts: tuple[Part, ...]) -> str:
    if single is not None:
        return format_duration(sum(single.time.of(part) for part in parts))
    return format_fraction(fsum(job_share(gpu_time, part).mean_frac for part in parts))


def _context(gpu_time: GpuTime) -> str:
    if len(gpu_time.gpus) == 1:
        return "Each nanosecond of the window belongs to exactly one part."
    return "Mean over the GPUs. Each nanosecond of a GPU's window belongs to exactly one part."


def _bar(gpu_time: GpuTime) -> Bar:
    shares = [(part, job_share(gpu_time, part).mean_frac) for part in Part]
    words = listed([f"{spelled(part)} {format_fraction(share)}" for part, share in shares])
    return stacked_bar([(part.value, share) for part, share in shares], f"Shares of the window: {words}")


def _ticks(gpu_time: GpuTime) -> tuple[Tick, ...]:
    return time_axis(gpu_time.gpus[0].time.window_ns) if len(gpu_time.gpus) == 1 else share_axis()


def _legend_entry(gpu_time: GpuTime, part: Part) -> LegendEntry:
    one = len(gpu_time.gpus) == 1
    detail = format_duration(gpu_time.gpus[0].time.of(part)) if one else share_range(gpu_time, part)
    share = f"{100 * job_share(gpu_time, part).mean_frac:.1f}"
    return LegendEntry(part.value, part_term(part), spelled(part), share, detail)


SECTION = Section("time", 20, "Time", "Where the time goes", _build)
