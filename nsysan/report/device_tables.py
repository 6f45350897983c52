"""The tables that have a row a device: a GPU as one process saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nsysan.analysis.gpu_time import DeviceTimes, GpuTime, GpuTimes
from nsysan.model.partition import Part
from nsysan.model.run import ReportInfo
from nsysan.model.units import format_count, format_duration, format_fraction, format_timestamp
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.gpu_tables import exact_ms
from nsysan.report.parts import part_label, part_term
from nsysan.report.terms import TERMS

SHOWN_DEVICE_COUNT = 32


def device_tables(gpu_time: GpuTime, gpus: Sequence[GpuTimes], reports: Sequence[ReportInfo]) -> tuple[Table, ...]:
    """Windows of the devices of these GPUs, their partitions where a GPU is shared, and excluded records."""
    ids = {device for gpu in gpus for device in gpu.devices}
    devices = [device for device in gpu_time.devices if device.id in ids][:SHOWN_DEVICE_COUNT]
    omitted_count = len(gpu_time.devices) - len(devices)
    note = f"{format_count(omitted_count)} more devices are in run.json." if omitted_count else None
    shared = any(len(gpu.devices) > 1 for gpu in gpus)
    tables = (_window_table(devices, reports, note), _partition_table(devices) if shared else None)
    return tuple(table for table in (*tables, _excluded_table(gpu_time.devices)) if table is not None)


def _window_table(devices: Sequence[DeviceTimes], reports: Sequence[ReportInfo], note: str | None) -> Table:
    return Table(
        id="devices",
        caption="Devices: each GPU as one process saw it, and the capture outside its window",
        columns=(
            Column("Device", TERMS["device"]),
            Column("GPU"),
            Column("report"),
            Column("process", numeric=True),
            Column("CUDA id", numeric=True),
            Column("window begins", TERMS["session_time"], numeric=True),
            Column("window", TERMS["window"], numeric=True),
            Column("lead idle", TERMS["outside_window"], numeric=True),
            Column("trail idle", TERMS["outside_window"], numeric=True),
        ),
        rows=tuple(_window_row(device, reports) for device in devices),
        note=note,
    )


def _window_row(device: DeviceTimes, reports: Sequence[ReportInfo]) -> tuple[Cell, ...]:
    report = reports[device.report].name if device.report < len(reports) else f"report {device.report}"
    trail_ns = device.trail_idle_ns
    trail = Cell("capture length unknown", style="faint") if trail_ns is None else Cell(format_duration(trail_ns))
    return (
        Cell(device.id),
        Cell(device.gpu),
        Cell(report, style="name"),
        Cell(str(device.pid)),
        Cell(str(device.device_id)),
        Cell(format_timestamp(device.window_start_ns)),
        Cell(format_duration(device.time.window_ns)),
        Cell(format_duration(device.lead_idle_ns)),
        trail,
    )


def _partition_table(devices: Sequence[DeviceTimes]) -> Table:
    parts = tuple(Column(part_label(part), part_term(part), numeric=True) for part in Part)
    return Table(
        id="device-partition",
        caption="Time of each part in ms as each process alone would see it. Processes that share a GPU fill its gaps.",
        columns=(Column("Device", TERMS["device"]), *parts, Column("window", TERMS["window"], numeric=True)),
        rows=tuple(_partition_row(device) for device in devices),
    )


def _partition_row(device: DeviceTimes) -> tuple[Cell, ...]:
    window_ns = device.time.window_ns
    cells = (
        Cell(exact_ms(device.time.of(part)), format_fraction(device.time.of(part) / window_ns) if window_ns else None)
        for part in Part
    )
    return (Cell(device.id, device.gpu), *cells, Cell(exact_ms(window_ns)))


def _excluded_table(devices: Sequence[DeviceTimes]) -> Table | None:
    counts: Counter[str] = Counter()
    for device in devices:
        counts.update(device.excluded_records)
    if not counts.total():
        return None
    return Table(
        id="excluded",
        caption="Records that take no part in any figure",
        columns=(Column("Why they were left out", TERMS["excluded_record"]), Column("records", numeric=True)),
        rows=tuple(
            (Cell(why.replace("_", " ")), Cell(format_count(count))) for why, count in sorted(counts.items()) if count
        ),
    )
