"""The tables of stages: a row a stage of the mean step with its parts as a bar, exact times, and a row a device."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.stages import StagesOfDevice, StageTime, ToldBy
from nsysan.model.partition import Part
from nsysan.model.stages import Stage
from nsysan.model.units import counted, format_count, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table, stacked_bar
from nsysan.report.partition import part_term
from nsysan.report.partition_tables import exact_ms
from nsysan.report.prose import spelled
from nsysan.report.terms import TERMS

SHOWN_DEVICE_COUNT = 16
_NAMES = {Stage.HOST_TO_DEVICE_COPY: "copy to the device", Stage.GRADIENT_SYNC: "gradient synchronization"}
_NOTHING = Cell("", style="faint")


def stage_name(stage: Stage | None) -> str:
    """The stage in words; None is what belongs to no known one."""
    return "not assigned" if stage is None else _NAMES.get(stage, spelled(stage.value))


def stage_bars(device: StagesOfDevice) -> Table:
    """The stages of the mean steady step, each with a bar of its parts on the scale of the longest stage."""
    longest_ns = max(stage.gpu_ns for stage in device.stages) or 1
    return Table(
        id="stage-bars",
        caption=f"Stages of the mean of {counted(device.count, 'steady step')} of {device.device}",
        columns=(
            Column("Stage", TERMS["stage"]),
            Column("Parts", bar=True),
            Column("GPU", TERMS["stage_time"], numeric=True, unit="ns"),
            Column("of the step", TERMS["stage_time"], numeric=True, unit="fraction"),
            Column("idle", TERMS["idle"], numeric=True, unit="ns"),
            Column("host", TERMS["host_time"], numeric=True, unit="ns"),
            Column("told by", TERMS["told_by"]),
            Column("confidence", TERMS["told_by"]),
        ),
        rows=tuple(_bar_row(stage, longest_ns) for stage in device.stages),
        source="stages[].stages[]",
        is_ordered=True,
    )


def stage_parts(device: StagesOfDevice) -> Table:
    """The exact time of each part in each stage; rows and columns add up."""
    parts = _present_parts(device)
    return Table(
        id="stage-parts",
        caption="Time of each part in ms, exact: the stages add up to the mean step. Below, its share of the step.",
        columns=(
            Column("Stage", TERMS["stage"]),
            *(Column(spelled(part), part_term(part), numeric=True, unit="ns") for part in parts),
            Column("all", TERMS["stage_time"], numeric=True, unit="ns"),
        ),
        rows=tuple(
            (
                Cell(stage_name(stage.stage)),
                *(_time_cell(stage.time.of(part), device.step_ns) for part in parts),
                _time_cell(stage.gpu_ns, device.step_ns),
            )
            for stage in device.stages
            if stage.gpu_ns
        ),
        footers=((Cell("mean step"), *_sums(device, parts), _time_cell(device.step_ns, device.step_ns)),),
        source="stages[].stages[].time",
        fold="exact times",
        is_ordered=True,
    )


def stage_devices(devices: Sequence[StagesOfDevice]) -> Table:
    """A row a device: how long its mean step is, and the share of each stage."""
    stages = [stage for stage in (*Stage, None) if any(_time_of(device, stage) for device in devices)]
    omitted_count = len(devices) - SHOWN_DEVICE_COUNT
    return Table(
        id="stage-devices",
        caption="Share of each stage in the mean steady step of each device",
        columns=(
            Column("Device", TERMS["device"]),
            Column("step", TERMS["step"], numeric=True, unit="ns"),
            *(Column(stage_name(stage), TERMS["stage_time"], numeric=True, unit="fraction") for stage in stages),
            Column("confidence", TERMS["told_by"]),
        ),
        rows=tuple(
            (
                Cell(device.device),
                cells.duration(device.step_ns),
                *(cells.fraction(_time_of(device, stage) / device.step_ns, "") for stage in stages),
                Cell(device.confidence.value),
            )
            for device in devices[:SHOWN_DEVICE_COUNT]
        ),
        note=f"{format_count(omitted_count)} more devices are in run.json." if omitted_count > 0 else None,
        source="stages[]",
        fold="by device",
    )


def _bar_row(stage: StageTime, longest_ns: int) -> tuple[Cell, ...]:
    shares = [(part.value, stage.time.of(part) / longest_ns) for part in Part]
    return (
        Cell(stage_name(stage.stage)),
        Cell("", bar=stacked_bar(shares)),
        cells.duration(stage.gpu_ns),
        cells.fraction(stage.step_frac, ""),
        cells.duration(stage.time.idle_ns),
        Cell("not recorded", style="faint") if stage.host_ns is None else cells.duration(stage.host_ns),
        _NOTHING if stage.told_by is None else Cell(_told(stage.told_by)),
        _NOTHING if stage.confidence is None else Cell(stage.confidence.value),
    )


def _told(told: ToldBy) -> str:
    """What tells most of the stage, and how much where that is not all: ``ranges``, ``kernels 62 %``."""
    shares = {"ranges": told.ranges_frac, "kernels": told.kernels_frac, "order": told.order_frac}
    most = max(shares, key=lambda source: shares[source])
    return most if round(shares[most], 3) == 1 else f"{most} {format_fraction(shares[most])}"


def _present_parts(device: StagesOfDevice) -> list[Part]:
    return [part for part in Part if any(stage.time.of(part) for stage in device.stages)]


def _sums(device: StagesOfDevice, parts: Sequence[Part]) -> list[Cell]:
    totals = (sum(stage.time.of(part) for stage in device.stages) for part in parts)
    return [_time_cell(total, device.step_ns) for total in totals]


def _time_cell(time_ns: int, step_ns: int) -> Cell:
    return Cell(exact_ms(time_ns), format_fraction(time_ns / step_ns), value=time_ns)


def _time_of(device: StagesOfDevice, stage: Stage | None) -> int:
    return sum(found.gpu_ns for found in device.stages if found.stage is stage)
