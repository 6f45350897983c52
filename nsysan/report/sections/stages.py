"""What a training step does when: its stages, each with the parts of its time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsysan.analysis.stages import Stages, StagesOfDevice, StageTime
from nsysan.model.confidence import Confidence
from nsysan.model.partition import Part
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.stages import Stage
from nsysan.model.units import format_duration, format_fraction
from nsysan.report.elements import Table, Term
from nsysan.report.extremes import alike, one_of_those
from nsysan.report.partition import part_term
from nsysan.report.prose import listed, spelled
from nsysan.report.section import Section, View
from nsysan.report.stage_tables import stage_bars, stage_devices, stage_name, stage_parts

_NAMED_COUNT = 3


class PartEntry(msgspec.Struct, frozen=True):
    """A part of the bars: its fill, and its share of the step."""

    fill: str
    term: Term
    label: str
    share: str


class StagesView(View, frozen=True):
    """The stages of the device with the longest mean step; ``legend`` says what the fills of the bars are."""

    bars: Table
    legend: tuple[PartEntry, ...]
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> StagesView | None:
    found = run.results.get(Stages)
    if isinstance(found, Skipped):
        return None
    device = slowest(found.stages)
    several = (stage_devices(found.stages),) if len(found.stages) > 1 else ()
    return StagesView(
        heading=stage_sentence(device),
        context=_context(device, found.stages),
        bars=stage_bars(device),
        legend=tuple(_legend(device)),
        sentences=_sentences(device),
        tables=(stage_parts(device), *several),
    )


_PHASES = frozenset({Stage.FORWARD, Stage.BACKWARD, Stage.OPTIMIZER})
"""What programs put ranges around."""


def slowest(devices: Sequence[StagesOfDevice]) -> StagesOfDevice:
    """The device whose mean step takes longest."""
    return max(devices, key=lambda device: device.step_ns)


def stage_sentence(device: StagesOfDevice) -> str:
    """What the mean step of the device spends most on, waits included."""
    most = sorted(device.stages, key=lambda stage: -stage.gpu_ns)[:_NAMED_COUNT]
    first, *others = (stage for stage in most if stage.gpu_ns)
    takes = f"{stage_name(first.stage)} takes {format_fraction(first.step_frac)}"
    rest = [f"{stage_name(stage.stage)} {format_fraction(stage.step_frac)}" for stage in others]
    step = f"the mean step of {device.device}, {format_duration(device.step_ns)} with its waits"
    return f"Of {step}, {listed([takes, *rest])}"


def _context(device: StagesOfDevice, devices: Sequence[StagesOfDevice]) -> str:
    count = len(alike(device.step_ns, [each.step_ns for each in devices], format_duration))
    whose = (
        f" Shown is {device.device}, {one_of_those(count, 'whose mean step takes longest')}."
        if len(devices) > 1
        else ""
    )
    return (
        "Each nanosecond of a step belongs to one stage, or to none: that of the work that runs, compute before "
        f"communication before copies; idle time to what ends it, or to data where the loader was awaited.{whose}"
    )


def _legend(device: StagesOfDevice) -> list[PartEntry]:
    times_ns = {part: sum(stage.time.of(part) for stage in device.stages) for part in Part}
    return [
        PartEntry(part.value, part_term(part), spelled(part), f"{100 * time_ns / device.step_ns:.1f}")
        for part, time_ns in times_ns.items()
        if time_ns
    ]


def _sentences(device: StagesOfDevice) -> tuple[str, ...]:
    """How sure the stages are, and which of them wait most."""
    sentences = [_coverage(device)]
    waiting = max(device.stages, key=_not_computing_ns)
    if _not_computing_ns(waiting):
        same = alike(waiting, device.stages, lambda stage: format_duration(_not_computing_ns(stage)))
        names, each = listed([stage_name(stage.stage) for stage in same]), " each" if len(same) > 1 else ""
        share = format_fraction(_not_computing_ns(waiting) / device.step_ns)
        sentences.append(
            f"Most of the time in which nothing computes lies in {names}: "
            f"{format_duration(_not_computing_ns(waiting))}{each}, {share} of the step."
        )
    return tuple(sentences)


def _coverage(device: StagesOfDevice) -> str:
    told = f"{format_fraction(device.coverage_frac)} of the step belongs to a known stage"
    if device.confidence is Confidence.HIGH:
        return f"{told}, told by NVTX ranges."
    unsure = [stage for stage in device.stages if stage.stage in _PHASES and stage.confidence is not Confidence.HIGH]
    if not unsure:
        return f"{told}, its phases told by NVTX ranges, the rest by kernels, threads and collectives."
    is_order = device.confidence is Confidence.LOW
    how = "the order of launches alone" if is_order else "kernels, threads and collectives"
    names = listed([stage_name(stage.stage) for stage in unsure])
    return f"{told}, most of it told by {how}: NVTX ranges around {names} would make it sure."


def _not_computing_ns(stage: StageTime) -> int:
    time = stage.time
    return time.exposed_communication_ns + time.exposed_copy_ns + time.idle_ns


SECTION = Section("stages", 24, "Stages", "What a step does when", _build)
