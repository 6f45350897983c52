"""The tables of idle time by cause: a row a GPU, and a row a device for what passes while it starts up."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.gpu_time import DeviceTimes, GpuTimes
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.units import format_count, format_fraction
from nsysan.report import cells
from nsysan.report.causes import cause_fill, cause_term, explained_gpus, most_awaited, present_causes
from nsysan.report.elements import Cell, Column, Table, stacked_bar
from nsysan.report.partition_tables import exact_ms
from nsysan.report.prose import spelled
from nsysan.report.terms import TERMS

SHOWN_DEVICE_COUNT = 16

_IDLE_COLUMN = Column("idle", TERMS["idle"], numeric=True, unit="ns")


def cause_bars(gpus: Sequence[GpuTimes]) -> Table:
    """A bar a GPU, as long as its share of idle time compared to the idlest GPU's, and its largest cause."""
    explained = explained_gpus(gpus)
    most = max(causes.idle_ns / gpu.time.window_ns for gpu, causes in explained) or 1.0
    return Table(
        id="cause-bars",
        caption="Each GPU's idle time by cause, compared to the idlest GPU",
        columns=(
            Column("GPU"),
            Column("Causes", bar=True),
            Column("idle", TERMS["idle"], numeric=True, unit="fraction"),
            Column("waited most for"),
        ),
        rows=tuple(_bar_row(gpu, causes, most) for gpu, causes in explained),
        source="gpus[].idle_causes",
        fold="by GPU",
    )


def cause_table(gpus: Sequence[GpuTimes]) -> Table:
    """Idle time by cause in ms to the nanosecond with the shares of the window below: causes that occur."""
    explained = explained_gpus(gpus)
    present = present_causes([causes for _, causes in explained])
    return Table(
        id="idle-causes",
        caption="Idle time by cause in ms, exact: the causes of a row add up to its idle time. Below, the share of the "
        "window.",
        columns=(Column("GPU"), *_cause_columns(present), _IDLE_COLUMN),
        rows=tuple((Cell(gpu.id), *_cause_cells(causes, present, gpu.time.window_ns)) for gpu, causes in explained),
        source="gpus[].idle_causes",
        fold="exact times",
    )


def start_up_table(devices: Sequence[DeviceTimes]) -> Table | None:
    """What of the idle time passed while each device started up; None where nothing did."""
    found = [(device, device.start_up) for device in devices if device.start_up and device.start_up.idle_causes.idle_ns]
    if not found:
        return None
    shown = found[:SHOWN_DEVICE_COUNT]
    present = present_causes([start_up.idle_causes for _, start_up in shown])
    omitted_count = len(found) - len(shown)
    return Table(
        id="start-up",
        caption="Of that, what passed during start-up, in ms: it happens once. Below, the share of the window.",
        columns=(
            Column("Device", TERMS["device"]),
            Column("start-up ends", TERMS["start_up"], numeric=True, unit="ns"),
            *_cause_columns(present),
            _IDLE_COLUMN,
        ),
        rows=tuple(
            (
                Cell(device.id),
                cells.moment(start_up.end_ns),
                *_cause_cells(start_up.idle_causes, present, device.time.window_ns),
            )
            for device, start_up in shown
        ),
        note=f"{format_count(omitted_count)} more devices are in run.json." if omitted_count else None,
        source="devices[].start_up",
        fold="start-up",
    )


def _cause_columns(present: Sequence[Cause]) -> tuple[Column, ...]:
    return tuple(Column(spelled(cause), cause_term(cause), numeric=True, unit="ns") for cause in present)


def _cause_cells(causes: IdleCauses, present: Sequence[Cause], window_ns: int) -> tuple[Cell, ...]:
    """A cell a cause, then the idle time they add up to."""
    times_ns = (*(causes.of(cause) for cause in present), causes.idle_ns)
    return tuple(Cell(exact_ms(time), format_fraction(time / window_ns), value=time) for time in times_ns)


def _bar_row(gpu: GpuTimes, causes: IdleCauses, most: float) -> tuple[Cell, ...]:
    shares = [(cause_fill(cause), causes.of(cause) / gpu.time.window_ns / most) for cause in Cause]
    return (
        Cell(gpu.id),
        Cell("", bar=stacked_bar(shares)),
        cells.fraction(causes.idle_ns / gpu.time.window_ns, "no window"),
        most_awaited({f"{cause.value}_ns": causes.of(cause) for cause in Cause}),
    )
