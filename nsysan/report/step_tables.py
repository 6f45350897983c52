"""The tables of steps: a row a device with its figures and its mean step, and a row a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nsysan.analysis.steps_of_device import Step, StepsOfDevice
from nsysan.model.units import format_count
from nsysan.report import cells
from nsysan.report.causes import most_awaited
from nsysan.report.elements import Cell, Column, Place, Table, stacked_bar
from nsysan.report.partition_tables import PARTITION_COLUMNS, time_cells
from nsysan.report.prose import spelled
from nsysan.report.step_chart import shares_of
from nsysan.report.terms import TERMS

SHOWN_DEVICE_COUNT = 16
SHOWN_STEP_COUNT = 60

_NONE = Cell("no steady step", style="faint")


def device_table(devices: Sequence[StepsOfDevice]) -> Table:
    """The steady steps of each device: how many, how long, and what lies outside of them."""
    return Table(
        id="step-devices",
        caption="Steady steps of each device",
        columns=(
            Column("Device", TERMS["device"]),
            Column("told by"),
            Column("closed steps", TERMS["step"], numeric=True),
            Column("steady", TERMS["steady"], numeric=True),
            Column("median", TERMS["median"], numeric=True, unit="ns"),
            Column("p90", TERMS["p90"], numeric=True, unit="ns"),
            Column("worst", TERMS["worst_step"], numeric=True, unit="ns"),
            Column("before the first", TERMS["step"], numeric=True, unit="ns"),
            Column("after the last", TERMS["step"], numeric=True, unit="ns"),
        ),
        rows=tuple(_device_row(device) for device in devices[:SHOWN_DEVICE_COUNT]),
        note=_omitted(len(devices)),
        source="steps.devices[]",
        fold="by device",
    )


def mean_step_table(devices: Sequence[StepsOfDevice]) -> Table | None:
    """Where the time of the mean steady step goes, by part; None where no device has one."""
    rows = tuple(
        (Cell(device.id), *time_cells(device.time))
        for device in devices[:SHOWN_DEVICE_COUNT]
        if device.time is not None
    )
    if not rows:
        return None
    step = Column("step", TERMS["step"], numeric=True, unit="ns")
    return Table(
        id="mean-step",
        caption="Time of each part in the mean steady step, in ms. Below, its share.",
        columns=(Column("Device", TERMS["device"]), *PARTITION_COLUMNS[:-1], step),
        rows=rows,
        source="steps.devices[].time",
        fold="exact times",
    )


def step_table(device: StepsOfDevice, places: Mapping[int, Place]) -> Table:
    """The steps of one device in order of time; of many the longest, longest first."""
    numbered = list(enumerate(device.list, start=1))
    longest_ns = max((step.duration_ns for step in device.list), default=0) or 1
    caption = f"Every step of {device.id}"
    if len(numbered) > SHOWN_STEP_COUNT:
        numbered = sorted(numbered, key=lambda entry: -entry[1].duration_ns)[:SHOWN_STEP_COUNT]
        caption = f"The {SHOWN_STEP_COUNT} longest of {format_count(len(device.list))} steps of {device.id}"
    return Table(
        id="step-list",
        caption=caption,
        columns=(
            Column("Step", TERMS["step"], numeric=True),
            Column("marked by"),
            Column("Begins at", TERMS["session_time"], numeric=True, unit="ns"),
            Column("Parts and causes", bar=True),
            Column("lasts", TERMS["lasts"], numeric=True, unit="ns"),
            Column("idle", TERMS["idle"], numeric=True, unit="ns"),
            Column("waited most for"),
            Column("counted", TERMS["steady"]),
        ),
        rows=tuple(_step_row(number, step, longest_ns, places.get(step.start_ns)) for number, step in numbered),
        source="steps.devices[].list[]",
        fold="every step",
    )


def _omitted(count: int) -> str | None:
    omitted_count = count - SHOWN_DEVICE_COUNT
    return f"{format_count(omitted_count)} more devices are in run.json." if omitted_count > 0 else None


def _device_row(device: StepsOfDevice) -> tuple[Cell, ...]:
    times = (device.median_ns, device.p90_ns, device.max_ns)
    return (
        Cell(device.id),
        Cell("ranges" if device.source.value == "nvtx" else "period of the kernels"),
        cells.count(device.step_count),
        cells.count(device.count),
        *(_NONE if time is None else cells.duration(time) for time in times),
        cells.duration(device.lead_ns),
        cells.duration(device.open_ns),
    )


def _step_row(number: int, step: Step, longest_ns: int, place: Place | None) -> tuple[Cell, ...]:
    shares = ((fill, time_ns / longest_ns) for fill, time_ns in shares_of(step))
    return (
        Cell(format_count(number), value=number, place=place),
        Cell("nothing", style="faint") if step.marker is None else Cell(step.marker, style="name"),
        cells.moment(step.start_ns),
        Cell("", bar=stacked_bar(shares)),
        cells.duration(step.duration_ns),
        cells.duration(step.time.idle_ns),
        most_awaited(step.idle_causes),
        Cell("yes") if step.excluded is None else Cell(f"no, {spelled(step.excluded.value)}"),
    )
