"""Everything the analyses share: each GPU's activities, window and occupancy, computed once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nsysan.attribution.activities import SOURCES, Activities, DeviceActivities, collect_activities, in_order
from nsysan.attribution.gpu_identity import GpuIdentity, identify_gpu
from nsysan.attribution.window import WindowChoice, bounds_of, window_over
from nsysan.model.errors import UsageError
from nsysan.model.run import Note
from nsysan.model.trace import Trace, process_of
from nsysan.model.units import format_timestamp
from nsysan.timeline.occupancy import Occupancy, sweep


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as one process of one report saw it, on that report's clock."""

    id: str
    gpu_id: str
    report: int
    global_pid: int
    device_id: int
    activities: Activities
    excluded_records: Mapping[str, int]
    occupancy: Occupancy

    @property
    def pid(self) -> int:
        """The process id on its host."""
        return process_of(self.global_pid)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A physical GPU or MIG instance with the work of all its devices, on the clock of its first device's report."""

    id: str
    identity: GpuIdentity
    devices: tuple[Device, ...]
    activities: Activities
    occupancy: Occupancy

    @property
    def window_ns(self) -> tuple[int, int]:
        """Begin and end of the judged stretch."""
        return int(self.occupancy.bounds_ns[0]), int(self.occupancy.bounds_ns[-1])


@dataclass(frozen=True, slots=True)
class Job:
    """The traces of a run and the GPUs they hold; ``notes`` says what could not be known about them."""

    traces: tuple[Trace, ...]
    gpus: tuple[Gpu, ...]
    notes: tuple[Note, ...]

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of all GPUs."""
        return tuple(device for gpu in self.gpus for device in gpu.devices)

    def activity_name(self, activities: Activities, position: int) -> str:
        """What one activity is called: the kernel's name as recorded, or what kind of record it is."""
        trace = self.traces[int(activities.report[position])]
        source = SOURCES[int(activities.source[position])]
        if source == "kernels" and trace.kernels is not None:
            return trace.text(int(trace.kernels.name_id[int(activities.row[position])]))
        return {"copies": "[memory copy]", "memsets": "[memset]", "graph_launches": "[CUDA graph]"}[source]


@dataclass(frozen=True, slots=True)
class _Found:
    """A device with usable work, before it is known which GPU it is."""

    report: int
    work: DeviceActivities
    identity: GpuIdentity


def build_job(traces: Sequence[Trace], choice: WindowChoice | None = None, gpu: str | None = None) -> Job:
    """The job of these traces over the chosen window, cut down to one GPU where its id, index or UUID is given.

    Raises UsageError where the window or the GPU does not exist.
    """
    choice = choice or WindowChoice()
    everything = [
        _Found(report, work, identify_gpu(trace, report, work.global_pid, work.device_id))
        for report, trace in enumerate(traces)
        for work in collect_activities(trace, report)
    ]
    found = [entry for entry in everything if len(entry.work.activities)]
    bounds = {report: bounds_of(choice, traces[report]) for report in {entry.report for entry in found}}
    offsets_ns = clock_offsets(traces)
    groups = _group_by_gpu(found, traces, offsets_ns)
    gpus = [_build_gpu(f"gpu{index}", group, bounds, offsets_ns) for index, group in enumerate(groups)]
    chosen = _choose(gpus, gpu)
    if choice != WindowChoice():
        _refuse_empty_window(chosen)
    return Job(tuple(traces), tuple(chosen), tuple(_notes(traces, everything)))


def clock_offsets(traces: Sequence[Trace]) -> list[int | None]:
    """Per trace what to add to its times to put them on the first trace's clock, by the session's start in UTC.

    Null where either start is unknown. Good to the hosts' clock error only: one to tens of ms between machines.
    """
    first_ns = traces[0].session_start_utc_ns if traces else None
    starts = (trace.session_start_utc_ns for trace in traces)
    offsets: list[int | None] = [None if start is None or first_ns is None else start - first_ns for start in starts]
    return [0, *offsets[1:]]


def _group_by_gpu(
    found: Sequence[_Found], traces: Sequence[Trace], offsets_ns: Sequence[int | None]
) -> list[list[_Found]]:
    """The devices by physical GPU, in order of their first device."""
    groups: defaultdict[Hashable, list[_Found]] = defaultdict(list)
    for index, entry in enumerate(found):
        key = entry.identity.key
        if key is None:
            groups["alone", index].append(entry)
        elif not groups[key] or _at_the_same_time(groups[key][0].report, entry.report, traces, offsets_ns):
            groups[key].append(entry)
        else:
            groups[key, entry.report].append(entry)
    return [group for group in groups.values() if group]


def _at_the_same_time(one: int, other: int, traces: Sequence[Trace], offsets_ns: Sequence[int | None]) -> bool:
    """Whether two reports are one, or captured at times that overlap on a known common clock."""
    if one == other:
        return True
    offset_one, offset_other = offsets_ns[one], offsets_ns[other]
    capture_one, capture_other = traces[one].capture_ns, traces[other].capture_ns
    if offset_one is None or offset_other is None or capture_one is None or capture_other is None:
        return False
    return offset_one < offset_other + capture_other and offset_other < offset_one + capture_one


def _build_gpu(
    gpu_id: str, group: Sequence[_Found], bounds: Mapping[int, WindowChoice], offsets_ns: Sequence[int | None]
) -> Gpu:
    own_clock = group[0].report
    shifted = [_shift(entry.work.activities, offsets_ns[entry.report], offsets_ns[own_clock]) for entry in group]
    activities = in_order(Activities.concatenate(shifted))
    devices = tuple(_build_device(entry, gpu_id, bounds[entry.report]) for entry in group)
    occupancy = _sweep(activities, window_over(activities, bounds[own_clock]))
    return Gpu(gpu_id, group[0].identity, devices, activities, occupancy)


def _build_device(entry: _Found, gpu_id: str, bounds: WindowChoice) -> Device:
    work = entry.work
    return Device(
        id=_device_id(entry),
        gpu_id=gpu_id,
        report=entry.report,
        global_pid=work.global_pid,
        device_id=work.device_id,
        activities=work.activities,
        excluded_records=work.excluded_records,
        occupancy=_sweep(work.activities, window_over(work.activities, bounds)),
    )


def _device_id(entry: _Found) -> str:
    return f"r{entry.report}/p{process_of(entry.work.global_pid)}/d{entry.work.device_id}"


def _sweep(activities: Activities, window_ns: tuple[int, int]) -> Occupancy:
    return sweep(activities.start_ns, activities.end_ns, activities.kind.astype(np.uint8), window_ns)


def _shift(activities: Activities, offset_ns: int | None, own_offset_ns: int | None) -> Activities:
    if offset_ns == own_offset_ns or offset_ns is None or own_offset_ns is None:
        return activities
    shift_ns = offset_ns - own_offset_ns
    columns = activities.columns()
    moved = {"start_ns": activities.start_ns + shift_ns, "end_ns": activities.end_ns + shift_ns}
    return Activities(**{**columns, **moved})


def _choose(gpus: list[Gpu], wanted: str | None) -> list[Gpu]:
    if wanted is None:
        return gpus
    chosen = [gpu for gpu in gpus if wanted in {gpu.id, gpu.id.removeprefix("gpu"), gpu.identity.uuid}]
    if not chosen:
        known = ", ".join(f"{gpu.id} ({gpu.identity.name or 'unnamed'})" for gpu in gpus) or "none"
        raise UsageError(f"There is no GPU {wanted!r} in this run.", f"GPUs here: {known}.")
    return chosen


def _refuse_empty_window(gpus: Iterable[Gpu]) -> None:
    spans = []
    for gpu in gpus:
        start_ns, end_ns = gpu.window_ns
        inside = (gpu.activities.end_ns > start_ns) & (gpu.activities.start_ns < end_ns)
        if inside.any():
            return
        spans.append((int(gpu.activities.start_ns.min()), int(gpu.activities.end_ns.max())))
    if spans:
        first, last = format_timestamp(min(spans)[0]), format_timestamp(max(end for _, end in spans))
        raise UsageError("No GPU work lies in the window asked for.", f"There is GPU work from {first} to {last}.")


def _notes(traces: Sequence[Trace], found: Sequence[_Found]) -> Iterable[Note]:
    for entry in found:
        if not len(entry.work.activities):
            count = sum(entry.work.excluded_records.values())
            yield Note(
                "device_without_usable_records",
                f"Device {_device_id(entry)} is left out: none of its {count} records has a possible time.",
            )
    unmatched = Counter(entry.report for entry in found if entry.identity.key is None)
    for report, count in sorted(unmatched.items()):
        if count > 1:
            yield Note(
                "gpus_not_matched",
                f"Report {report} ({traces[report].name}) does not tell which physical GPU each of its {count} devices "
                "is, so each counts as a GPU of its own; two processes on one GPU would show as two.",
            )
