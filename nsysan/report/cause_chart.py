"""Idle time by cause over all GPUs, a row a cause: the mean as a bar, and a mark across it for each GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from nsysan.analysis.gpu_time import GpuTimes
from nsysan.model.idle import Cause
from nsysan.model.units import format_fraction, rounds_to_zero
from nsysan.report import cells
from nsysan.report.causes import cause_fill, cause_term, class_of_cause, explained_gpus
from nsysan.report.elements import Bar, BarMark, Cell, Column, Table, percent, single_bar
from nsysan.report.prose import spelled
from nsysan.report.terms import TERMS

LONGEST = 0.76
"""So much of its cell the longest bar or farthest mark takes: what is left is for a name beside it."""
APART = 0.05
"""A GPU so much of the longest above the mean is named."""


def causes_over_gpus(shares: Mapping[Cause, float], shown: Sequence[GpuTimes], gpu_count: int) -> Table:
    """The causes, largest first: ``shares`` of the window are means over all GPUs, and those ``shown`` are marked."""
    by_gpu = {
        cause: {gpu.id: causes.of(cause) / gpu.time.window_ns for gpu, causes in explained_gpus(shown)}
        for cause in shares
    }
    longest = max(max(shares[cause], *by_gpu[cause].values()) for cause in shares)
    ordered = sorted(shares, key=lambda cause: -shares[cause])
    idle = fsum(shares.values())
    single = gpu_count == 1
    last = (
        Column("lasts", TERMS["cause_time"], numeric=True, unit="ns", sums=True)
        if single
        else Column("most", TERMS["most_on_gpu"], numeric=True, unit="fraction", notes="most on")
    )
    times = tuple(causes for _, causes in explained_gpus(shown))
    return Table(
        id="causes-over-gpus",
        caption="What the GPU waited for" if single else "Bars: mean over the GPUs. Marks: each GPU",
        columns=(
            Column("Cause", TERMS["idle"]),
            Column("Share of the window", bar=True),
            Column("of the window", TERMS["window"], numeric=True, unit="fraction"),
            Column("of idle", TERMS["idle"], numeric=True, unit="fraction"),
            last,
            Column("class", TERMS["bottleneck_class"]),
        ),
        rows=tuple(
            (
                Cell(spelled(cause), fill=cause_fill(cause), term=cause_term(cause)),
                Cell("", bar=_bar(cause, shares[cause], {} if single else by_gpu[cause], longest)),
                cells.fraction(shares[cause], "none"),
                cells.fraction(shares[cause] / idle, "none"),
                cells.duration(times[0].of(cause)) if single else _most(by_gpu[cause]),
                Cell(class_of_cause(cause)),
            )
            for cause in ordered
        ),
        footers=((Cell("idle"), Cell(""), Cell(format_fraction(idle)), Cell("100.0 %"), Cell(""), Cell("")),),
        source="gpus[].idle_causes",
    )


def _bar(cause: Cause, mean: float, by_gpu: Mapping[str, float], longest: float) -> Bar:
    """The mean as a bar with the marks of GPUs; the one with most is named where it stands apart."""
    scale = LONGEST / longest
    most = max(by_gpu, key=lambda gpu: by_gpu[gpu], default=None)
    named = most is not None and by_gpu[most] - mean >= APART * longest
    marks = tuple(
        BarMark(percent(share * scale), gpu if named and gpu == most else None)
        for gpu, share in by_gpu.items()
        if not rounds_to_zero(share)
    )
    return Bar(single_bar(cause_fill(cause), mean * scale).segments, marks=marks)


def _most(by_gpu: Mapping[str, float]) -> Cell:
    """The largest share and the GPU that has it, where one alone does."""
    most = max(by_gpu.values())
    having = [gpu for gpu, share in by_gpu.items() if format_fraction(share) == format_fraction(most)]
    return Cell(format_fraction(most), note=having[0] if len(having) == 1 else None, value=most)
