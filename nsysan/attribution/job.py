"""Everything the analyses share: each GPU's activities, window and occupancy, computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import msgspec

from nsysan.attribution.activities import (
    Activities,
    activity_name,
    collect_activities,
    in_order,
)
from nsysan.attribution.clocks import Clock, clocks_of, shifted
from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.members import members_of
from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.attribution.devices import Device, Gpu, Listed
from nsysan.attribution.doubtful_records import Repeats, doubt_notes, repeats_in
from nsysan.attribution.gpu_identity import identify_gpu
from nsysan.attribution.hollow_windows import hollow_window_notes
from nsysan.attribution.host import Host
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.job_idle import JobIdle
from nsysan.attribution.job_sums import JobSums, ListedSums
from nsysan.attribution.matching import FoundDevice, ListedDevice, group_by_gpu, matching_notes, told_apart
from nsysan.attribution.pairing_notes import pairing_notes
from nsysan.attribution.silent_processes import silent_process_notes
from nsysan.attribution.sound_records import damage_notes
from nsysan.attribution.stages.job_stages import JobStages
from nsysan.attribution.steps.job_steps import JobSteps
from nsysan.attribution.steps.judged import JudgedSteps
from nsysan.attribution.told_shapes import ToldShapes
from nsysan.attribution.window import WindowChoice, bounds_of, window_over
from nsysan.model.ceilings import Ceilings
from nsysan.model.errors import UsageError
from nsysan.model.evidence import Evidence
from nsysan.model.nccl_log import NcclLog
from nsysan.model.run import Note
from nsysan.model.text import display_text, first_names
from nsysan.model.trace import Trace
from nsysan.model.units import counted, format_timestamp
from nsysan.timeline.occupancy import Occupancy, sweep


# a dict keeps what every rank of a thousand asks for
class Job(msgspec.Struct, frozen=True, dict=True):
    """The traces of a run and the GPUs they hold; ``notes`` says what could not be known about them."""

    traces: tuple[Trace, ...]
    gpus: tuple[Gpu, ...]
    notes: tuple[Note, ...]
    window_is_chosen: bool
    """Whether the user chose the window; else it is first to last activity."""
    idle: JobIdle
    """Why each GPU and device was idle, and what the threads of each report did."""
    steps: JobSteps
    """The training steps of each device."""
    stages: JobStages
    """Which stage of its step each piece of a device's work belongs to."""
    collectives: JobCollectives
    """What the ranks told each other, who waited for whom, and the clock they share."""
    sums: JobSums
    """What each GPU and device did in its window, summed."""
    evidence: Evidence = msgspec.field(default_factory=Evidence)
    """What is known besides the traces."""
    ceilings: Ceilings | None = None
    """What such a machine was measured to reach, as far as the user says it."""

    @cached_property
    def told_shapes(self) -> tuple[ToldShapes, ...]:
        """What the ranges of each report tell of the matrices that are multiplied."""
        return tuple(ToldShapes(threads.host) for threads in self.idle.threads)

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """The devices of all GPUs."""
        return tuple(device for gpu in self.gpus for device in gpu.devices)

    @cached_property
    def judged_steps(self) -> dict[str, JudgedSteps]:
        """By device what ``judge_steps`` has found so far."""
        return {}

    def devices_of(self, report: int) -> list[Device]:
        """The devices of one report."""
        return self._by_report.get(report, [])

    @cached_property
    def _by_report(self) -> dict[int, list[Device]]:
        found: dict[int, list[Device]] = {}
        for device in self.devices:
            found.setdefault(device.report, []).append(device)
        return found

    def shift_ns(self, report: int, other: int) -> int:
        """What to add to times of one report to have them on the clock of the other; 0 where that is unknown."""
        clocks = clocks_of([self.traces[report], self.traces[other]])
        return clocks[0].shift_to(clocks[1])

    def clock_shift_ns(self, device: Device) -> int:
        """What to add to the device's times to have them on the clock that collectives tell all reports share."""
        return self.collectives.shift_ns(self._member_of[device.id])

    @cached_property
    def _member_of(self) -> dict[str, int]:
        return {member.id: place for place, member in enumerate(self.collectives.members)}

    @property
    def has_unusable_records(self) -> bool:
        """Whether the traces hold records of GPU work, or of anything, that could not be used."""
        recorded = any(len(table) for trace in self.traces for table in trace.gpu_tables().values())
        return recorded or any(trace.unreadable_records for trace in self.traces)

    def activity_name(self, activities: Activities, position: int) -> str:
        """What one activity is called: the kernel's name as recorded, or what kind of record it is."""
        return activity_name(self.traces, activities, position)


def build_job(  # noqa: PLR0913 -- what the user chooses, each by name
    traces: Sequence[Trace],
    choice: WindowChoice | None = None,
    gpu: str | None = None,
    marker: str | None = None,
    ranks: RankChoice | None = None,
    *,
    evidence: Evidence | None = None,
) -> Job:
    """The job of these traces over the chosen window, cut down to one GPU where its id, index or UUID is given.

    ``marker`` names the NVTX ranges that mark steps, None is to find them; ``ranks`` is what the user says of ranks,
    ``evidence`` what is known besides the traces.
    Raises UsageError where the window or the GPU does not exist.
    """
    choice = choice or WindowChoice()
    hosts = [Host(trace) for trace in traces]
    clocks = clocks_of(traces)
    works = [collect_activities(trace, report) for report, trace in enumerate(traces)]
    everything = told_apart(
        ListedDevice(report, work, identify_gpu(traces[report], report, work.global_pid, work.device_id))
        for report, of_report in enumerate(works)
        for work in of_report
    )
    working = [device for device in everything if len(device.work.activities)]
    bounds = [bounds_of(choice, host.trace, _last_work_ns(working, report)) for report, host in enumerate(hosts)]
    groups = group_by_gpu(working, clocks)
    gpus = [listed_gpu(f"gpu{index}", group, bounds, clocks) for index, group in enumerate(groups)]
    chosen = choose_gpu(gpus, gpu)
    if choice != WindowChoice():
        _refuse_empty_window(chosen)
    doubted = (
        note
        for trace, of_report in zip(traces, works, strict=True)
        for note in trace_notes(trace, repeats_in(trace, of_report))
    )
    paired = (note for host in hosts for note in pairing_notes(host))
    sums = ListedSums(traces)
    hollow = hollow_window_notes(chosen, sums) if choice == WindowChoice() else ()
    notes = (*unusable_notes(everything), *doubted, *paired, *hollow, *matching_notes(groups))
    idle = JobIdle([HostThreads(host) for host in hosts], clocks)
    steps = JobSteps(hosts, marker)
    known = evidence or Evidence()
    collectives = JobCollectives(hosts, clocks, members_of(working), ranks or RankChoice(), known.of(NcclLog))
    stages = JobStages(idle, steps)
    return Job(
        tuple(traces), tuple(chosen), notes, choice != WindowChoice(), idle, steps, stages, collectives, sums, known
    )


def _last_work_ns(working: Sequence[ListedDevice], report: int) -> int:
    return max((int(found.work.activities.end_ns.max()) for found in working if found.report == report), default=0)


def occupancy_of(activities: Activities, window_ns: tuple[int, int]) -> Occupancy:
    """Which kinds of these activities run when, inside the window."""
    return sweep(activities.start_ns, activities.end_ns, activities.kind, window_ns)


def listed_gpu(
    gpu_id: str, group: Sequence[ListedDevice], bounds: Sequence[WindowChoice], clocks: Sequence[Clock]
) -> Gpu:
    """The GPU of these devices over the bounds of the first one's report, by report; so are the clocks."""
    first = group[0]
    pieces = [shifted(device.work.activities, clocks[device.report].shift_to(clocks[first.report])) for device in group]
    activities = in_order(Activities.concatenate(pieces))
    own_bounds = bounds[first.report]
    devices = tuple(
        _build_device(device, gpu_id, own_bounds.moved(clocks[first.report].shift_to(clocks[device.report])))
        for device in group
    )
    # most GPUs have one device, which is then all there is to know
    occupancy = (
        devices[0].occupancy if len(devices) == 1 else occupancy_of(activities, window_over(activities, own_bounds))
    )
    return Gpu(gpu_id, first.identity, devices, Listed(activities, occupancy))


def _build_device(found: ListedDevice, gpu_id: str, bounds: WindowChoice) -> Device:
    work = found.work
    return Device(
        id=found.id,
        gpu_id=gpu_id,
        report=found.report,
        work=work,
        listed=Listed(work.activities, occupancy_of(work.activities, window_over(work.activities, bounds))),
    )


def choose_gpu(gpus: list[Gpu], wanted: str | None) -> list[Gpu]:
    """All GPUs, or the one wanted by its id, index or UUID. Raises UsageError where there is none."""
    if wanted is None:
        return gpus
    chosen = [gpu for gpu in gpus if wanted in {gpu.id, gpu.id.removeprefix("gpu"), gpu.identity.uuid}]
    if not chosen:
        known = first_names([f"{gpu.id} ({display_text(gpu.identity.name or 'unnamed')})" for gpu in gpus])
        raise UsageError(f"There is no GPU {display_text(wanted)!r} in this run.", f"GPUs here: {known or 'none'}.")
    return chosen


def _refuse_empty_window(gpus: Sequence[Gpu]) -> None:
    spans = [(int(gpu.activities.start_ns.min()), int(gpu.activities.end_ns.max())) for gpu in gpus]
    windows = [gpu.window_ns for gpu in gpus]
    # a window in a gap is all idle, which is an answer; one before or after all work is a mistake
    if spans and not any(
        begin < last and first < end for (begin, end), (first, last) in zip(windows, spans, strict=True)
    ):
        first, last = format_timestamp(min(spans)[0]), format_timestamp(max(end for _, end in spans))
        raise UsageError("No GPU work lies in the window asked for.", f"There is GPU work from {first} to {last}.")


def trace_notes(trace: Trace, repeats: Repeats) -> Iterator[Note]:
    """What is doubtful in one report."""
    yield from damage_notes(trace)
    yield from doubt_notes(trace, repeats)
    yield from silent_process_notes(trace)


def unusable_notes(found: Iterable[FoundDevice]) -> Iterator[Note]:
    """The devices that are left out for want of a usable record."""
    for device in found:
        if not device.work.fault_counts[:, 0].any():
            count = counted(sum(device.work.excluded_records.values()), "record")
            yield Note(
                "device_without_usable_records",
                f"Device {device.id} is left out: it has {count}, and none with a possible time.",
            )
