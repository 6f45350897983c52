"""The steps of a device as columns: work by part from the line up, idle time by cause on top of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from nsysan.analysis.steps_of_device import Step, StepsOfDevice
from nsysan.model.partition import Part
from nsysan.model.units import format_count, format_duration
from nsysan.report.causes import cause_fill, times_by_cause
from nsysan.report.elements import Block, ChartColumn, ColumnChart, Place, Tick, column_of, percent, pixels

HEIGHT = 180
MOST_COLUMNS = 120

_FULL = 0.86
"""How much of its place a column takes."""


def group_size(step_count: int) -> int:
    """How many steps in a row share a column."""
    return max(-(-step_count // MOST_COLUMNS), 1)


def step_chart(device: StepsOfDevice, places: Mapping[int, Place]) -> ColumnChart:
    """A column a step; of many steps the longest of each group of neighbours. ``places`` are by a step's begin."""
    shown = _shown(device.list)
    longest_ns = max((step.duration_ns for _, step in shown), default=0) or 1
    columns = (
        ChartColumn(
            blocks=tuple(_column(step, place, len(shown), longest_ns)),
            label=f"step {format_count(number)}, {format_duration(step.duration_ns)}",
            place=places.get(step.start_ns),
        )
        for place, (number, step) in enumerate(shown)
    )
    median = device.median_ns
    return ColumnChart(
        columns=tuple(columns),
        height=str(HEIGHT),
        line_y=None if median is None else pixels(HEIGHT * (1 - median / longest_ns)),
        label=f"{format_count(len(shown))} steps one after the other, the longest {format_duration(longest_ns)}. "
        "The table below tells the same.",
    )


def step_axis(device: StepsOfDevice) -> tuple[Tick, ...]:
    """The begin of the first step and the end of the last, by their numbers."""
    return (Tick("0%", "step 1", "start"), Tick("100%", f"step {format_count(len(device.list))}", "end"))


def shares_of(step: Step) -> Iterator[tuple[str, int]]:
    """Pairs of fill and time: the working parts, then the causes of the idle time, or that as a whole."""
    yield from ((part.value, step.time.of(part)) for part in Part if part is not Part.IDLE)
    if step.idle_causes is None:
        yield Part.IDLE.value, step.time.idle_ns
    else:
        yield from ((cause_fill(cause), time_ns) for cause, time_ns in times_by_cause(step.idle_causes))


def _shown(steps: Sequence[Step]) -> list[tuple[int, Step]]:
    """The steps that have a column, with their numbers."""
    size = group_size(len(steps))
    numbered = list(enumerate(steps, start=1))
    groups = (numbered[begin : begin + size] for begin in range(0, len(steps), size))
    return [max(group, key=lambda entry: entry[1].duration_ns) for group in groups]


def _column(step: Step, place: int, count: int, longest_ns: int) -> Iterator[Block]:
    shares = ((fill, time_ns / longest_ns) for fill, time_ns in shares_of(step))
    for block in column_of(shares, percent(place / count), percent(_FULL / count), HEIGHT):
        yield block if step.excluded is None else replace(block, fill=f"{block.fill} left-out")
