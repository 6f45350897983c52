"""The tables of the partition: a row a GPU, and a row a device, which is a GPU as one process saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nsysan.analysis.gpu_time import DeviceTimes, GpuTime, GpuTimes
from nsysan.model.partition import Part, PartTimes
from nsysan.model.run import ReportInfo
from nsysan.model.units import NS_PER_MS, format_count, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table, stacked_bar
from nsysan.report.extremes import extreme_of
from nsysan.report.partition import job_share, part_share, part_term
from nsysan.report.prose import spelled
from nsysan.report.terms import TERMS

SHOWN_DEVICE_COUNT = 32

_NO_WINDOW = "no window"
PARTITION_COLUMNS = (
    *(Column(spelled(part), part_term(part), numeric=True, unit="ns") for part in Part),
    Column("window", TERMS["window"], numeric=True, unit="ns"),
)
"""A column a part, and the window they add up to: the heads of ``time_cells``."""


def gpu_bars(gpus: Sequence[GpuTimes]) -> Table:
    """A bar a GPU with the two shares that matter first."""
    return Table(
        id="gpu-bars",
        caption="Each GPU: the parts as shares of its window",
        columns=(
            Column("GPU"),
            Column("Parts", bar=True),
            Column("compute busy", TERMS["compute_busy"], numeric=True, unit="fraction"),
            Column("idle", TERMS["idle"], numeric=True, unit="fraction"),
        ),
        rows=tuple(_bar_row(gpu) for gpu in gpus),
        source="gpus[].time",
    )


def partition_table(gpu_time: GpuTime, gpus: Sequence[GpuTimes]) -> Table:
    """The partition in ms to the nanosecond with the shares below; mean and worst where there are several GPUs."""
    named = len({gpu.name for gpu in gpus}) > 1
    return Table(
        id="partition",
        caption="Time of each part in ms, exact: the parts of a row add up to its window. Below, its share.",
        columns=(Column("GPU", notes="model" if named else None), *PARTITION_COLUMNS),
        rows=tuple((Cell(gpu.id, gpu.name if named else None), *time_cells(gpu.time)) for gpu in gpus),
        footers=_partition_footers(gpu_time) if len(gpu_time.gpus) > 1 else (),
        source="gpus[].time and job.time",
        fold="exact times",
    )


def busy_table(gpus: Sequence[GpuTimes]) -> Table:
    """How busy each GPU was, by every measure of it."""
    ranges = any(gpu.exposed_communication_max_ns != gpu.time.exposed_communication_ns for gpu in gpus)
    at_most = (Column("exposed comm., at most", TERMS["exposed_range"], numeric=True, unit="ns"),) if ranges else ()
    return Table(
        id="busy",
        caption="How busy the GPUs were" if len(gpus) > 1 else "How busy the GPU was",
        columns=(
            Column("GPU"),
            Column("window begins", TERMS["session_time"], numeric=True, unit="ns"),
            Column("compute busy", TERMS["compute_busy"], numeric=True, unit="fraction"),
            Column("device active", TERMS["device_active"], numeric=True, unit="fraction"),
            Column("overlap", TERMS["overlap"], numeric=True, unit="fraction"),
            *at_most,
            Column("work volume", TERMS["work"], numeric=True, unit="ns"),
            Column("idle gaps", TERMS["gap"], numeric=True),
            Column("longest gap", TERMS["gap"], numeric=True, unit="ns"),
        ),
        rows=tuple(_busy_row(gpu, ranges=ranges) for gpu in gpus),
        source="gpus[]",
        fold="busy and gaps",
    )


def device_tables(gpu_time: GpuTime, gpus: Sequence[GpuTimes], reports: Sequence[ReportInfo]) -> tuple[Table, ...]:
    """Windows of the devices of these GPUs, their partitions where a GPU is shared, and excluded records."""
    ids = {device for gpu in gpus for device in gpu.devices}
    devices = [device for device in gpu_time.devices if device.id in ids][:SHOWN_DEVICE_COUNT]
    omitted_count = len(gpu_time.devices) - len(devices)
    note = f"{format_count(omitted_count)} more devices are in run.json." if omitted_count else None
    shared = any(len(gpu.devices) > 1 for gpu in gpus)
    tables = (_window_table(devices, reports, note), _device_partition_table(devices) if shared else None)
    return tuple(table for table in (*tables, _excluded_table(gpu_time.devices)) if table is not None)


def exact_ms(duration_ns: int) -> str:
    """A duration in ms with all six decimals, so that a column adds up: ``294.404540``."""
    return f"{duration_ns // NS_PER_MS:,}.{duration_ns % NS_PER_MS:06d}"


def time_cells(time: PartTimes) -> tuple[Cell, ...]:
    """A cell a part with its exact time and its share below, then the window."""
    if not time.window_ns:
        return (*(Cell("") for _ in Part), Cell(exact_ms(0), _NO_WINDOW, value=0))
    parts = (_part_cell(time.of(part), time.window_ns) for part in Part)
    return (*parts, Cell(exact_ms(time.window_ns), "100.0 %", value=time.window_ns))


def _bar_row(gpu: GpuTimes) -> tuple[Cell, ...]:
    shares = [(part, part_share(gpu.time, part)) for part in Part]
    return (
        Cell(gpu.id),
        Cell("", bar=stacked_bar([(part.value, share) for part, share in shares if share is not None])),
        cells.fraction(gpu.compute_busy_frac, _NO_WINDOW),
        cells.fraction(part_share(gpu.time, Part.IDLE), _NO_WINDOW),
    )


def _part_cell(part_ns: int, window_ns: int) -> Cell:
    return Cell(exact_ms(part_ns), format_fraction(part_ns / window_ns), value=part_ns)


def _partition_footers(gpu_time: GpuTime) -> tuple[tuple[Cell, ...], ...]:
    spreads = [job_share(gpu_time, part) for part in Part]
    means = (Cell(format_fraction(spread.mean_frac)) for spread in spreads)
    worst = (
        Cell(format_fraction(spread.worst_frac), _whose(part, gpu_time))
        for part, spread in zip(Part, spreads, strict=True)
    )
    return (
        (Cell("mean share"), *means, Cell("")),
        (Cell("worst share"), *worst, Cell("")),
    )


def _whose(part: Part, gpu_time: GpuTime) -> str:
    """The GPUs that have the worst share of a part, unless all have the same."""
    spread = job_share(gpu_time, part)
    if not spread.spread_frac:
        return "all equal"
    return extreme_of(spread, gpu_time.gpus, lambda gpu: part_share(gpu.time, part)).gpus


def _busy_row(gpu: GpuTimes, *, ranges: bool) -> tuple[Cell, ...]:
    at_most = (cells.duration(gpu.exposed_communication_max_ns),) if ranges else ()
    return (
        Cell(gpu.id),
        cells.moment(gpu.window_start_ns),
        cells.fraction(gpu.compute_busy_frac, _NO_WINDOW),
        cells.fraction(gpu.device_active_frac, _NO_WINDOW),
        cells.fraction(gpu.overlap_frac, "not known" if ranges else "no communication"),
        *at_most,
        cells.duration(gpu.work_ns),
        cells.count(gpu.idle_gap_count),
        cells.duration(gpu.longest_idle_gap_ns),
    )


def _window_table(devices: Sequence[DeviceTimes], reports: Sequence[ReportInfo], note: str | None) -> Table:
    return Table(
        id="devices",
        caption="Devices: each GPU as one process saw it, and the capture outside its window",
        columns=(
            Column("Device", TERMS["device"]),
            Column("GPU"),
            Column("report"),
            Column("process", TERMS["process"], numeric=True),
            Column("CUDA id", TERMS["cuda_id"], numeric=True),
            Column("window begins", TERMS["session_time"], numeric=True, unit="ns"),
            Column("window", TERMS["window"], numeric=True, unit="ns"),
            Column("lead idle", TERMS["outside_window"], numeric=True, unit="ns"),
            Column("trail idle", TERMS["outside_window"], numeric=True, unit="ns"),
        ),
        rows=tuple(_window_row(device, reports) for device in devices),
        source="devices[]",
        fold="devices",
        note=note,
    )


def _window_row(device: DeviceTimes, reports: Sequence[ReportInfo]) -> tuple[Cell, ...]:
    report = reports[device.report].name if device.report < len(reports) else f"report {device.report}"
    trail_ns = device.trail_idle_ns
    trail = Cell("capture length unknown", style="faint") if trail_ns is None else cells.duration(trail_ns)
    return (
        Cell(device.id),
        Cell(device.gpu),
        Cell(report, style="name"),
        cells.number(device.pid),
        cells.number(device.device_id),
        cells.moment(device.window_start_ns),
        cells.duration(device.time.window_ns),
        cells.duration(device.lead_idle_ns),
        trail,
    )


def _device_partition_table(devices: Sequence[DeviceTimes]) -> Table:
    return Table(
        id="device-partition",
        caption="Time of each part in ms as each process alone would see it. Processes that share a GPU fill its gaps.",
        columns=(Column("Device", TERMS["device"], notes="GPU"), *PARTITION_COLUMNS),
        rows=tuple((Cell(device.id, device.gpu), *time_cells(device.time)) for device in devices),
        source="devices[].time",
        fold="times by process",
    )


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
        rows=tuple((Cell(spelled(why)), cells.count(count)) for why, count in sorted(counts.items()) if count),
        source="devices[].excluded_records",
    )
