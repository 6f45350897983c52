"""The job of a report whose GPU work was folded: it knows sums of it, and no piece."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsysan.attribution.clocks import clocks_of
from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.members import Member
from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.duration_groups import GpuDurations
from nsysan.attribution.folded_work import FoldedDevice, FoldedReport
from nsysan.attribution.gpu_identity import identify_gpu
from nsysan.attribution.hollow_windows import hollow_window_notes
from nsysan.attribution.host import Host
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.job_idle import JobIdle
from nsysan.attribution.job import Job, choose_gpu, trace_notes, unusable_notes
from nsysan.attribution.matching import FoundDevice, group_by_gpu, matching_notes
from nsysan.attribution.stages.job_stages import JobStages
from nsysan.attribution.steps.job_steps import JobSteps
from nsysan.attribution.work_sums import WorkSums
from nsysan.model.trace import Trace

_NO_ROWS = np.empty(0, np.int64)


class FoldedSums:
    """The sums that the fold has left."""

    def __init__(self, report: FoldedReport) -> None:
        self._report = report

    def of_gpu(self, gpu: Gpu) -> WorkSums:
        """The sums over the GPU's window."""
        return self._report.gpu_of(gpu.devices[0].work).sums

    def of_device(self, device: Device) -> WorkSums:
        """The sums over the device's window."""
        sums = self._report.device_of(device.work).sums
        assert sums is not None, "a device without sound work is in no job"
        return sums

    def kernels_of(self, gpu: Gpu) -> Sequence[GpuDurations]:
        """How long the GPU's kernels took."""
        return self._report.gpu_of(gpu.devices[0].work).kernels

    @property
    def kernel_names(self) -> Sequence[str]:
        """The names of all kernels."""
        return self._report.kernel_names


def build_folded_job(trace: Trace, report: FoldedReport, gpu: str | None, ranks: RankChoice) -> Job:
    """The job of the trace over the window from first to last activity, cut down to one GPU where that is given.

    Raises UsageError where there is no such GPU.
    """
    host, clocks = Host(trace), clocks_of([trace])
    everything = [
        FoundDevice(0, device, identify_gpu(trace, 0, device.global_pid, device.device_id)) for device in report.devices
    ]
    working = [found for found in everything if found.work.fault_counts[:, 0].any()]
    groups = group_by_gpu(working, clocks)
    chosen = choose_gpu([_gpu(f"gpu{index}", group) for index, group in enumerate(groups)], gpu)
    sums = FoldedSums(report)
    notes = (
        *unusable_notes(everything),
        *trace_notes(trace, {}),
        *hollow_window_notes(chosen, sums),
        *matching_notes(groups),
    )
    idle, steps = JobIdle([HostThreads(host)], clocks), JobSteps([host], None)
    members = [_member(found, report.device_of(found.work)) for found in working]
    collectives = JobCollectives([host], clocks, members, ranks)
    return Job(
        traces=(trace,),
        gpus=tuple(chosen),
        notes=notes,
        window_is_chosen=False,
        idle=idle,
        steps=steps,
        stages=JobStages(idle, steps),
        collectives=collectives,
        sums=sums,
    )


def _gpu(gpu_id: str, group: Sequence[FoundDevice]) -> Gpu:
    devices = tuple(Device(found.id, gpu_id, found.report, found.work, None) for found in group)
    return Gpu(gpu_id, group[0].identity, devices, None)


def _member(found: FoundDevice, device: FoldedDevice) -> Member:
    return Member(found.id, found.report, device.global_pid, device.device_id, _NO_ROWS, device.communicates)
