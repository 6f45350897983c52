"""Where every nanosecond of every GPU went: the partition, per physical GPU, per device and over the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from msgspec.structs import astuple, replace

from nsysan.analysis.of_reports import OfReport, answered
from nsysan.analysis.registry import Analysis
from nsysan.attribution.devices import Device, Gpu
from nsysan.attribution.idle.pieces import IdleTime, causes_of
from nsysan.attribution.job import Job, occupancy_of
from nsysan.attribution.missing_work import missing_over_reports, missing_records
from nsysan.attribution.steps.start_up import start_up_end, start_up_end_without_steps
from nsysan.attribution.steps.steady import judge_steps
from nsysan.attribution.unseen_graphs import count_unseen_graph_launches
from nsysan.attribution.work_sums import WorkSums
from nsysan.model.figures import Bearing, Better, Condition, Figure, Topic, Unit
from nsysan.model.idle import IdleCauses
from nsysan.model.missing_records import MissingRecords
from nsysan.model.partition import COMPUTING_PARTS, Activity, Part, PartTimes
from nsysan.model.profilers import BOTH_ACTIVITIES, Recapture
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text
from nsysan.model.units import counted
from nsysan.timeline.occupancy import states_with


class GpuTimes(msgspec.Struct, frozen=True):
    """A physical GPU or MIG instance: the partition of the union over all processes that used it.

    ``compute_busy_frac`` = |C + F| / window. ``device_active_frac`` = 1 - idle / window, what nvidia-smi would
    call utilisation. ``overlap_frac`` = a / (a + exposed_communication) with a = |(C & N) - F|, null when 0/0
    and where communication ran beside an opaque graph, which may have hidden it or not: then the part is the least that
    was exposed, and ``exposed_communication_max_ns`` = |N - (C + F)| the most. ``work_ns`` sums the activities'
    durations inside the window, overlaps counted repeatedly: a volume, no time. ``idle_causes`` adds up to
    ``time.idle_ns``; it is null where the CUDA calls were not recorded.
    """

    id: str
    name: str | None
    uuid: str | None
    devices: tuple[str, ...]
    window_start_ns: int
    window_end_ns: int
    time: PartTimes
    compute_busy_frac: float | None
    device_active_frac: float | None
    overlap_frac: float | None
    exposed_communication_max_ns: int
    work_ns: int
    idle_gap_count: int
    longest_idle_gap_ns: int
    idle_causes: IdleCauses | None = None

    def __post_init__(self) -> None:
        _check_sums(self.window_end_ns - self.window_start_ns, self.time, self.idle_causes)


class StartUp(msgspec.Struct, frozen=True):
    """The idle time of a device's window up to ``end_ns`` by cause: what happens once, and is no part of a steady run.

    It ends where the first step begins that is no warm-up; without steps where every kernel function that holds 1 % of
    the kernel time has run once.
    """

    end_ns: int
    idle_causes: IdleCauses


class DeviceTimes(msgspec.Struct, frozen=True):
    """A GPU as one process saw it; ``report`` is an index into ``reports``, ``gpu`` an id of ``gpus``.

    ``lead_idle_ns`` and ``trail_idle_ns`` are the idle of the capture before and after the window, null where the
    capture's length is unknown. ``idle_causes`` and ``start_up`` are null where the CUDA calls were not recorded.
    ``excluded_records`` counts records that were left out, by why.
    """

    id: str
    report: int
    gpu: str
    pid: int | None
    device_id: int
    window_start_ns: int
    window_end_ns: int
    lead_idle_ns: int
    trail_idle_ns: int | None
    time: PartTimes
    idle_gap_count: int
    longest_idle_gap_ns: int
    excluded_records: dict[str, int]
    idle_causes: IdleCauses | None = None
    start_up: StartUp | None = None

    def __post_init__(self) -> None:
        _check_sums(self.window_end_ns - self.window_start_ns, self.time, self.idle_causes)


def _check_sums(window_ns: int, time: PartTimes, causes: IdleCauses | None) -> None:
    """Raise ValueError where the parts do not fill the window, or the causes not the idle time."""
    if min(astuple(time)) < 0 or time.window_ns != window_ns:
        raise ValueError("the parts do not fill the window")
    if causes is not None and (min(astuple(causes)) < 0 or causes.idle_ns != time.idle_ns):
        raise ValueError("the causes do not add up to the idle time")


class Spread(msgspec.Struct, frozen=True):
    """A share of the window over all GPUs; ``worst_gpu`` has the ``worst``, ``spread`` = largest - smallest."""

    mean_frac: float
    worst_frac: float
    worst_gpu: str
    spread_frac: float


class PartSpreads(msgspec.Struct, frozen=True):
    """The spread of each part's share."""

    compute_only: Spread
    overlapped: Spread
    fused: Spread
    opaque_graph: Spread
    exposed_communication: Spread
    exposed_copy: Spread
    idle: Spread

    def of(self, part: Part) -> Spread:
        """The spread of one part's share."""
        spread: Spread = getattr(self, part.value)
        return spread


class JobTimes(msgspec.Struct, frozen=True):
    """The same parts over all GPUs, as shares of each GPU's window.

    Worst is the smallest share of ``compute_only``, ``overlapped``, ``fused`` and the two busy fractions, and the
    largest of the others. ``unseen_graph_launch_count`` launches of CUDA graphs left no record of what they ran; null
    where the calls were not recorded. ``missing_records`` counts by kind the GPU records that are known to have been
    and cannot be used; a kind that misses none is not there.
    """

    gpu_count: int
    time: PartSpreads
    compute_busy_frac: Spread
    device_active_frac: Spread
    unseen_graph_launch_count: int | None
    missing_records: dict[str, MissingRecords] = msgspec.field(default_factory=dict)

    @property
    def missing_kernels(self) -> MissingRecords | None:
        """The kernels that are missing where they are so many that what was computed is known from below only."""
        kernels = self.missing_records.get("kernels")
        return kernels if kernels is not None and kernels.is_much else None


class GpuTime(msgspec.Struct, frozen=True):
    """The partition of every GPU and device, and over the job."""

    id: ClassVar[str] = "gpu_time"

    gpus: Annotated[tuple[GpuTimes, ...], msgspec.Meta(min_length=1)]
    devices: Annotated[tuple[DeviceTimes, ...], msgspec.Meta(min_length=1)]
    job: JobTimes

    def figures(self) -> Iterator[Figure]:
        """The mean window, and each part's mean share of it; the parts add up to the whole."""
        windows_ns = [gpu.time.window_ns for gpu in self.gpus if gpu.time.window_ns]
        if not windows_ns:
            return
        whole = Figure(WINDOW_SHARES, "whole", "window", 1.0, Unit.FRAC)
        yield Figure(_WINDOW, "length", "length of the window", sum(windows_ns) / len(windows_ns), Unit.NS)
        shares = {part: self.job.time.of(part).mean_frac for part in Part}
        yield from figures_of_parts(WINDOW_SHARES, shares, Unit.FRAC, whole)
        yield whole

    def conditions(self) -> Iterator[Condition]:
        """The GPUs, and how much of what they ran is recorded."""
        names = sorted({gpu.name for gpu in self.gpus if gpu.name is not None})
        yield Condition("gpu_model", "GPU model", ", ".join(names) or None, Bearing.FORBIDS)
        yield Condition("gpu_count", "GPU count", str(len(self.gpus)), Bearing.FORBIDS)
        yield Condition("graphs", "CUDA graphs recorded", self._graph_recording(), Bearing.FORBIDS)
        missing = ", ".join(kind for kind, entry in self.job.missing_records.items() if entry.is_much)
        yield Condition("missing_records", "records that miss 2 % and more", missing or "none", Bearing.FORBIDS)

    def _graph_recording(self) -> str:
        if self.job.unseen_graph_launch_count:
            return "not at all"
        return "as blocks" if self.job.time.opaque_graph.worst_frac else "by their kernels, or none ran"


_WINDOW = Topic("window", "The window")
WINDOW_SHARES = Topic("window_shares", "Shares of the window, mean over GPUs")


def figures_of_parts(topic: Topic, values: Mapping[Part, float], unit: Unit, whole: Figure) -> Iterator[Figure]:
    """The parts of the whole, those in which compute runs also as one: none of these is better than another."""
    computing = Figure(topic, "computing", "computing", sum(map(values.__getitem__, COMPUTING_PARTS)), unit)
    yield replace(computing, part_of=whole.id)
    for part in Part:
        computes = part in COMPUTING_PARTS
        better = Better.NEITHER if computes or part is Part.OPAQUE_GRAPH else Better.LESS
        of = computing.id if computes else whole.id
        yield Figure(topic, part.value, spelled(part.value), values[part], unit, better, of)


_GPU_WORK = Recapture(
    nsys="Record CUDA activity: nsys profile -t cuda,nvtx ...",
    torch=f"Record GPU activity with torch.profiler: profile({BOTH_ACTIVITIES}, "
    "schedule=schedule(...)); the whole call: nsysan record-help --profiler torch",
)

RECORD_AGAIN = (
    "Export or record again, and stop the profiler before the process exits, so that no buffers are lost; "
    "the notes say what could not be read."
)
"""What to do where records of GPU work are missing."""


def compute_gpu_time(job: Job, _results: ResultSet) -> GpuTime | Skipped:
    """The partition of every GPU of the job; skipped where no GPU work was recorded."""
    if not job.gpus:
        return no_gpu_work(GpuTime.id, job)
    if not any(job.sums.of_gpu(gpu).state_times.window_ns for gpu in job.gpus):
        return Skipped(GpuTime.id, "the GPU work recorded takes no time at all", None)
    gpus = tuple(_gpu_times(gpu, job.sums.of_gpu(gpu), job.idle.of_gpu(gpu)) for gpu in job.gpus)
    devices = tuple(_device_times(device, job) for device in job.devices)
    return GpuTime(gpus, devices, _job_times(gpus, count_unseen_graph_launches(job), missing_records(job)))


def merge_gpu_time(job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> GpuTime | Skipped:
    """The partition of every GPU of all reports."""
    found = answered(parts, GpuTime)
    gpus = tuple(
        replace(gpu, id=part.gpus[gpu.id], devices=tuple(map(part.device, gpu.devices)))
        for part, told in found
        for gpu in told.gpus
    )
    devices = tuple(
        replace(device, id=part.device(device.id), report=part.report, gpu=part.gpus[device.gpu])
        for part, told in found
        for device in told.devices
    )
    jobs = [told.job for _, told in found]
    unseen = [one.unseen_graph_launch_count for one in jobs if one.unseen_graph_launch_count is not None]
    missing = missing_over_reports(job, [one.missing_records for one in jobs])
    return GpuTime(gpus, devices, _job_times(gpus, sum(unseen) if unseen else None, missing))


ANALYSIS = Analysis(GpuTime, compute_gpu_time, of_host=False, of_sums=True, merge=merge_gpu_time, also="partition")


def no_gpu_work(analysis_id: str, job: Job) -> Skipped:
    """The answer of every analysis of GPU work to a job without any: nothing was recorded, or nothing can be used."""
    if unseen := count_unseen_graph_launches(job):
        reason = f"{counted(unseen, 'CUDA graph launch')} left no record of what ran, and there is no other GPU work"
        return Skipped(analysis_id, reason, "Record with --cuda-graph-trace=node, or export with a newer nsys.")
    if job.has_unusable_records:
        return Skipped(analysis_id, "no record of GPU work can be used; the notes say why", None)
    if missing := missing_records(job).get("kernels"):
        launches = counted(missing.missing_count, "kernel launch")
        return Skipped(
            analysis_id, f"{launches} left no record of a kernel, and there is no other GPU work", RECORD_AGAIN
        )
    recapture = _GPU_WORK.by({trace.profiler for trace in job.traces})
    return Skipped(analysis_id, "the trace holds no GPU work", recapture)


def _gpu_times(gpu: Gpu, sums: WorkSums, idle: IdleTime | None) -> GpuTimes:
    states = sums.state_times
    time = states.part_times()
    busy_ns = states.time_where(states_with(Activity.COMPUTE) | states_with(Activity.FUSED))
    hidden_ns = states.time_where(states_with(Activity.COMPUTE | Activity.COMMUNICATION, Activity.FUSED))
    exposed_ns = time.exposed_communication_ns
    at_most_ns = states.time_where(states_with(Activity.COMMUNICATION, Activity.COMPUTE | Activity.FUSED))
    return GpuTimes(
        id=gpu.id,
        name=None if gpu.identity.name is None else display_text(gpu.identity.name),
        uuid=None if gpu.identity.uuid is None else display_text(gpu.identity.uuid),
        devices=tuple(device.id for device in gpu.devices),
        window_start_ns=sums.window_ns[0],
        window_end_ns=sums.window_ns[1],
        time=time,
        compute_busy_frac=_fraction(busy_ns, states.window_ns),
        device_active_frac=_fraction(states.window_ns - time.idle_ns, states.window_ns),
        overlap_frac=_fraction(hidden_ns, hidden_ns + exposed_ns) if at_most_ns == exposed_ns else None,
        exposed_communication_max_ns=at_most_ns,
        work_ns=sums.work_ns,
        idle_gap_count=sums.gaps.count,
        longest_idle_gap_ns=sums.gaps.longest_ns,
        idle_causes=None if idle is None else idle.causes(),
    )


def _device_times(device: Device, job: Job) -> DeviceTimes:
    sums = job.sums.of_device(device)
    start_ns, end_ns = sums.window_ns
    capture_ns, idle = job.traces[device.report].capture_ns, job.idle.of_device(device)
    return DeviceTimes(
        id=device.id,
        report=device.report,
        gpu=device.gpu_id,
        pid=device.pid,
        device_id=device.device_id,
        window_start_ns=start_ns,
        window_end_ns=end_ns,
        lead_idle_ns=_idle_between(job, device, 0, start_ns),
        trail_idle_ns=None if capture_ns is None else _idle_between(job, device, end_ns, capture_ns),
        time=sums.state_times.part_times(),
        idle_gap_count=sums.gaps.count,
        longest_idle_gap_ns=sums.gaps.longest_ns,
        idle_causes=None if idle is None else idle.causes(),
        start_up=None if idle is None else _start_up(device, job, idle),
        excluded_records=device.work.excluded_records,
    )


def _start_up(device: Device, job: Job, idle: IdleTime) -> StartUp | None:
    end_ns = _start_up_end(device, job)
    if end_ns is None:
        return None
    end_ns = int(np.clip(end_ns, device.occupancy.bounds_ns[0], device.occupancy.bounds_ns[-1]))
    return StartUp(end_ns, causes_of(idle.pieces.clipped(int(device.occupancy.bounds_ns[0]), end_ns)))


def _start_up_end(device: Device, job: Job) -> int | None:
    _, steps = job.steps.of_device(device)
    if steps is None:
        return start_up_end_without_steps(device.activities, job.idle.threads[device.report].host.trace)
    return start_up_end(steps, judge_steps(job, device, steps).excluded)


def _idle_between(job: Job, device: Device, start_ns: int, end_ns: int) -> int:
    """Idle of the capture outside the window; a user's window may leave work there."""
    if end_ns <= start_ns or not job.window_is_chosen:
        return max(end_ns - start_ns, 0)
    activities = device.activities
    inside = (activities.start_ns < end_ns) & (activities.end_ns > start_ns)
    return occupancy_of(activities.take(inside), (start_ns, end_ns)).idle().total_ns


def _job_times(
    gpus: Sequence[GpuTimes], unseen_graph_launch_count: int | None, missing: dict[str, MissingRecords]
) -> JobTimes:
    """Over the GPUs that have a window; a window chosen by the user may leave some none."""
    judged = [gpu for gpu in gpus if gpu.time.window_ns]
    ids = [gpu.id for gpu in judged]
    parts = {
        part.value: _spread(
            ids, [gpu.time.of(part) / gpu.time.window_ns for gpu in judged], healthy=part in COMPUTING_PARTS
        )
        for part in Part
    }
    busy = [gpu.compute_busy_frac for gpu in judged if gpu.compute_busy_frac is not None]
    active = [gpu.device_active_frac for gpu in judged if gpu.device_active_frac is not None]
    return JobTimes(
        gpu_count=len(gpus),
        time=PartSpreads(**parts),
        compute_busy_frac=_spread(ids, busy, healthy=True),
        device_active_frac=_spread(ids, active, healthy=True),
        unseen_graph_launch_count=unseen_graph_launch_count,
        missing_records=missing,
    )


def _spread(ids: Sequence[str], fractions: Sequence[float], *, healthy: bool) -> Spread:
    worst = (min if healthy else max)(fractions)
    return Spread(
        mean_frac=fmean(fractions),
        worst_frac=worst,
        worst_gpu=ids[fractions.index(worst)],
        spread_frac=max(fractions) - min(fractions),
    )


def _fraction(part_ns: int, whole_ns: int) -> float | None:
    return part_ns / whole_ns if whole_ns else None
