"""The job of reports whose GPU work was folded: it knows sums of it, and no piece."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.activities import DeviceRecords, collect_activities
from nsysan.attribution.clocks import Clock, clocks_of
from nsysan.attribution.collectives.calls import CallsOfReport
from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.members import Member, members_of
from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.doubtful_records import repeats_in
from nsysan.attribution.duration_groups import GpuDurations
from nsysan.attribution.folded_work import FoldedReport
from nsysan.attribution.gpu_identity import GpuIdentity, identify_gpu
from nsysan.attribution.hollow_windows import hollow_window_notes
from nsysan.attribution.host import Host
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.job_idle import JobIdle
from nsysan.attribution.job import Job, choose_gpu, listed_gpu, trace_notes, unusable_notes
from nsysan.attribution.job_sums import ListedSums
from nsysan.attribution.kernel_durations import KernelNames
from nsysan.attribution.matching import FoundDevice, ListedDevice, group_by_gpu, matching_notes, told_apart
from nsysan.attribution.stages.job_stages import JobStages
from nsysan.attribution.steps.job_steps import JobSteps
from nsysan.attribution.window import WindowChoice
from nsysan.attribution.work_sums import WorkSums
from nsysan.model.run import Note
from nsysan.model.trace import Trace

_NO_ROWS = np.empty(0, np.int64)


class FoldedSums:
    """The sums that folds have left, and those of work that is known one by one where a report was not folded."""

    def __init__(self, traces: Sequence[Trace], reports: Sequence[FoldedReport | None]) -> None:
        self._reports = tuple(reports)
        self._names = KernelNames()
        self._listed = ListedSums(traces, self._names)

    def of_gpu(self, gpu: Gpu) -> WorkSums:
        """The sums over the GPU's window."""
        folded = self._folded(gpu)
        return self._listed.of_gpu(gpu) if folded is None else folded.gpu_of(gpu.devices[0].work).sums

    def of_device(self, device: Device) -> WorkSums:
        """The sums over the device's window."""
        folded = self._reports[device.report]
        if folded is None:
            return self._listed.of_device(device)
        sums = folded.device_of(device.work).sums
        assert sums is not None, "a device without sound work is in no job"
        return sums

    def kernels_of(self, gpu: Gpu) -> Sequence[GpuDurations]:
        """How long the GPU's kernels took."""
        folded = self._folded(gpu)
        if folded is None:
            return self._listed.kernels_of(gpu)
        numbers = self._names.numbers(folded.kernel_names)
        return [replace(found, keys=numbers[found.keys]) for found in folded.gpu_of(gpu.devices[0].work).kernels]

    @property
    def kernel_names(self) -> Sequence[str]:
        """The names of the kernels asked for so far."""
        return self._names.all()

    def _folded(self, gpu: Gpu) -> FoldedReport | None:
        return self._reports[gpu.devices[0].report]


class ReportNotes(msgspec.Struct, frozen=True):
    """What is doubtful in a report, and its calls of communication, where its trace tells neither.

    ``pairing`` is of work and the calls behind it.
    """

    doubts: tuple[Note, ...]
    pairing: tuple[Note, ...]
    calls: CallsOfReport


def build_folded_job(
    traces: Sequence[Trace],
    reports: Sequence[FoldedReport | None],
    gpu: str | None,
    ranks: RankChoice,
    told: Sequence[ReportNotes] = (),
) -> Job:
    """The job of the traces over the window from first to last activity, cut down to one GPU where that is given.

    Where the work of a report was folded its trace holds none. GPUs that several reports saw must not be of such.
    ``told`` is of each report, none where the traces hold all that it says. Raises UsageError where there is no such
    GPU.
    """
    hosts, clocks = [Host(trace) for trace in traces], clocks_of(traces)
    pairs = zip(traces, reports, strict=True)
    of_reports = [_devices(trace, report, folded) for report, (trace, folded) in enumerate(pairs)]
    everything = [found for of_report in of_reports for found in of_report]
    working = [found for found in everything if found.work.fault_counts[:, 0].any()]
    groups = group_by_gpu(working, clocks)
    chosen = choose_gpu([_gpu(f"gpu{index}", group, clocks) for index, group in enumerate(groups)], gpu)
    sums = FoldedSums(traces, reports)
    listed = [[found.work for found in of_report if isinstance(found, ListedDevice)] for of_report in of_reports]
    doubted = (
        note
        for trace, works in zip(traces, listed, strict=True)
        if not told
        for note in trace_notes(trace, repeats_in(trace, works))
    )
    notes = (
        *unusable_notes(everything),
        *(note for of_report in told for note in of_report.doubts),
        *doubted,
        *(note for of_report in told for note in of_report.pairing),
        *hollow_window_notes(chosen, sums),
        *matching_notes(groups),
    )
    idle, steps = JobIdle([HostThreads(host) for host in hosts], clocks), JobSteps(hosts, None)
    members = [_member(found, traces[found.report], reports[found.report]) for found in working]
    return Job(
        traces=tuple(traces),
        gpus=tuple(chosen),
        notes=notes,
        window_is_chosen=False,
        idle=idle,
        steps=steps,
        stages=JobStages(idle, steps),
        collectives=JobCollectives(hosts, clocks, members, ranks, calls=_calls(told)),
        sums=sums,
    )


def _calls(told: Sequence[ReportNotes]) -> list[CallsOfReport]:
    """The calls of each report, which takes itself for the first."""
    return [
        replace(one.calls, introductions=tuple(replace(known, report=report) for known in one.calls.introductions))
        for report, one in enumerate(told)
    ]


def reports_sharing_gpus(traces: Sequence[Trace], reports: Sequence[FoldedReport | None]) -> set[int]:
    """The reports of GPUs that several saw at the same time: what these did together the sums of each do not tell."""
    pairs = enumerate(zip(traces, reports, strict=True))
    found = [device for report, (trace, folded) in pairs for device in _devices(trace, report, folded)]
    sharing = ({device.report for device in group} for group in group_by_gpu(found, clocks_of(traces)))
    return {report for of_group in sharing if len(of_group) > 1 for report in of_group}


def _devices(trace: Trace, report: int, folded: FoldedReport | None) -> list[FoundDevice]:
    def identity(work: DeviceRecords) -> GpuIdentity:
        return identify_gpu(trace, report, work.global_pid, work.device_id)

    if folded is not None:
        return told_apart(FoundDevice(report, work, identity(work)) for work in folded.devices)
    return [*told_apart(ListedDevice(report, work, identity(work)) for work in collect_activities(trace, report))]


def _gpu(gpu_id: str, group: Sequence[FoundDevice], clocks: Sequence[Clock]) -> Gpu:
    listed = [found for found in group if isinstance(found, ListedDevice)]
    if len(listed) == len(group):
        return listed_gpu(gpu_id, listed, [WindowChoice()] * len(clocks), clocks)
    devices = tuple(Device(found.id, gpu_id, found.report, found.work, None) for found in group)
    return Gpu(gpu_id, group[0].identity, devices, None)


def _member(found: FoundDevice, trace: Trace, folded: FoldedReport | None) -> Member:
    """The device as a rank; of folded work the trace may still have communication kernels."""
    if folded is None:
        assert isinstance(found, ListedDevice), "what was not folded is known one by one"
        return members_of([found])[0]
    device = folded.device_of(found.work)
    kernels, rows = trace.kernels, _NO_ROWS
    if kernels is not None and len(kernels):
        is_own = (kernels.global_pid == device.global_pid) & (kernels.device_id == device.device_id)
        rows = np.flatnonzero(is_own)
    return Member(found.id, found.report, device.global_pid, device.device_id, rows, device.communicates)
