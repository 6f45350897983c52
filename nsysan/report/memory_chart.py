"""Memory over time as columns, each as high as the most that was in use in its stretch."""

from __future__ import annotations

from nsysan.analysis.memory import MemoryOfGpu
from nsysan.model.units import format_bytes, format_timestamp
from nsysan.report.elements import ChartColumn, ColumnChart, Tick, column_of, percent, pixels

HEIGHT = 120
COLUMNS = 120
_WIDTH = 1.05
"""Columns reach a little into the next, so that no background shows between them."""


Span = tuple[int, int]
"""From when to when, in ns of the GPU's clock."""


def memory_span(gpu: MemoryOfGpu, window: Span | None) -> Span | None:
    """From the first event to the last, and at least the window, if that is known; None without events."""
    if not gpu.curve:
        return None
    first, last = gpu.curve[0][0], gpu.curve[-1][0]
    return (first, last) if window is None else (min(first, window[0]), max(last, window[1]))


def memory_chart(gpu: MemoryOfGpu, span: Span | None) -> ColumnChart:
    """Columns over the span; the dashed line is all the GPU has, where the peak comes near it."""
    highest = max(gpu.peak_bytes, 1)
    near = gpu.capacity_bytes is not None and gpu.capacity_bytes <= 2 * highest
    top = gpu.capacity_bytes if near and gpu.capacity_bytes is not None else highest
    columns = (
        ChartColumn(
            blocks=tuple(
                column_of([("memory", in_use_bytes / top)], percent(place / COLUMNS), percent(_WIDTH / COLUMNS), HEIGHT)
            ),
            label=format_bytes(in_use_bytes),
            place=None,
        )
        for place, in_use_bytes in enumerate(_by_column(gpu, span))
    )
    return ColumnChart(
        columns=tuple(columns),
        height=str(HEIGHT),
        line_y=pixels(HEIGHT * (1 - gpu.capacity_bytes / top)) if near and gpu.capacity_bytes is not None else None,
        label=f"Memory of {gpu.gpu} over time, at most {format_bytes(gpu.peak_bytes)}. The table below tells the same.",
    )


def memory_axis(span: Span | None) -> tuple[Tick, ...]:
    """When the columns begin and end."""
    if span is None:
        return ()
    return (Tick("0%", format_timestamp(span[0]), "start"), Tick("100%", format_timestamp(span[1]), "end"))


def _by_column(gpu: MemoryOfGpu, span: Span | None) -> list[int]:
    """The most in use in each column; one without a point has what the one before ended with."""
    if span is None:
        return []
    first, last = span
    span_ns = max(last - first, 1) + 1
    columns: list[int] = []
    points = iter([*gpu.curve, (last + span_ns, 0)])
    time_ns, following = next(points)
    in_use = gpu.start_bytes
    for place in range(COLUMNS):
        until_ns = first - (-span_ns * (place + 1) // COLUMNS)
        highest = in_use
        while time_ns < until_ns:
            in_use, highest = following, max(highest, following)
            time_ns, following = next(points)
        columns.append(highest)
    return columns
