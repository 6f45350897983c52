"""How long a training step takes, how the steps are spread, and where the time of each goes."""

from __future__ import annotations

from nsysan.analysis.steps import Steps, StepTable
from nsysan.analysis.steps_of_device import StepsOfDevice
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration
from nsysan.report.elements import ColumnChart, Table, Tick
from nsysan.report.extremes import alike, one_of_those
from nsysan.report.section import Section, Unanswered, View, unanswered
from nsysan.report.step_chart import group_size, step_axis, step_chart
from nsysan.report.step_tables import device_table, mean_step_table, step_table
from nsysan.report.steps import (
    distribution,
    exclusion_sentences,
    open_sentence,
    slowest_device,
    step_places,
    trend,
)


class StepsView(View, frozen=True):
    """The steps of the slowest device as columns, what is to be said of them, and tables of all devices and steps."""

    chart: ColumnChart
    ticks: tuple[Tick, ...]
    note: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> StepsView | Unanswered:
    found = run.results.get(Steps)
    if isinstance(found, Skipped):
        return unanswered(found, "how long a training step takes")
    table = found.steps
    device = slowest_device(table)
    mean = mean_step_table(table.devices)
    places = step_places(run, device)
    steps = step_table(device, places)
    return StepsView(
        heading=_heading(device),
        context=_context(table, device),
        chart=step_chart(device, places),
        ticks=step_axis(device),
        note=_note(device),
        sentences=_sentences(table, device),
        tables=(device_table(table.devices), *(() if mean is None else (mean,)), steps),
    )


def _heading(device: StepsOfDevice) -> str:
    if device.median_ns is None or device.max_ns is None:
        return f"None of {counted(device.step_count, 'step')} is steady"
    return (
        f"The median step takes {format_duration(device.median_ns)}, the worst {format_duration(device.max_ns)}; "
        f"{distribution(device)}"
    )


def _context(table: StepTable, device: StepsOfDevice) -> str:
    """How the steps were told, and of which device they are."""
    told = "No range marks them: they are told from the period of the kernels, which is a heuristic."
    if device.source.value == "nvtx":
        others = "" if device.marker == table.marker else "; on other devices other ranges do"
        told = f"The ranges “{device.marker}” mark them{others}."
    medians_ns = [each.median_ns or 0.0 for each in table.devices]
    longest = len(alike(device.median_ns or 0.0, medians_ns, format_duration))
    whose = (
        f" Shown is {device.id}, {one_of_those(longest, 'whose median step takes longest')}."
        if len(table.devices) > 1
        else ""
    )
    return f"{told}{whose} Idle time between steps is inside them."


def _note(device: StepsOfDevice) -> str:
    """How to read the columns."""
    size = group_size(len(device.list))
    column = "A column is a step" if size == 1 else f"A column is the longest of {format_count(size)} steps in a row"
    first = "" if len(device.list) == device.step_count else f", the first {format_count(len(device.list))} of them"
    return (
        f"{column}{first}: work by part from the line up, then idle time by cause. The dashed line is the median. "
        "Steps that do not count are pale. A column leads to its step in the timeline."
    )


def _sentences(table: StepTable, device: StepsOfDevice) -> tuple[str, ...]:
    """What is said of the steady steps, and which are left out."""
    sentences = list(exclusion_sentences(table.excluded))
    if device.median_ns is not None and device.p90_ns is not None:
        spread = f"Of {counted(device.count, 'steady step')} 90 % take at most {format_duration(device.p90_ns)}."
        sentences.insert(0, spread)
    further = (trend(device), open_sentence(table.devices))
    return (*sentences, *(sentence for sentence in further if sentence is not None))


SECTION = Section("steps", 22, "Steps", "How long a step takes", _build)
