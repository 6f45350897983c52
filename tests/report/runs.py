"""Runs made by hand: two GPUs whose figures a reader can add up, and what a run without answers looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nsysan.analysis.baseline import Baseline, BaselineFigures
from nsysan.analysis.collectives import CollectiveRow, Collectives, RankRow
from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.analysis.gap_sentence import GapCall, GapSpan
from nsysan.analysis.gap_story import GapStory
from nsysan.analysis.gpu_samples import SampledGpus
from nsysan.analysis.gpu_time import DeviceTimes, GpuTime, GpuTimes, JobTimes, PartSpreads, Spread
from nsysan.analysis.idle_gaps import Gap, GapSizes, IdleGaps
from nsysan.analysis.kernel_summary import KernelClassRow, KernelRow, KernelSummary, OmittedKernels
from nsysan.analysis.lanes.lane import COLUMNS, Lane, pack_lane
from nsysan.analysis.lanes.places import KernelPlace, PartPlace
from nsysan.analysis.lanes.ranges import ThreadRanges
from nsysan.analysis.lanes.streams import StreamLane
from nsysan.analysis.lanes.waits import CAUSES_LAST_FIRST
from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.nccl_logs import NcclLogs
from nsysan.analysis.nccl_tests import NcclTests
from nsysan.analysis.ranges import RangeKind, RangeNode, Ranges, RangeTimesOfName
from nsysan.analysis.scheduler_jobs import SchedulerAccounts
from nsysan.analysis.steps import ExcludedSteps, Step, Steps, StepsOfDevice, StepTable
from nsysan.analysis.stragglers import Pattern, Straggler, Stragglers
from nsysan.analysis.timeline import GpuLanes, Stretch, Timeline, TimelineLanes
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.job_steps import StepSource
from nsysan.model.confidence import Confidence
from nsysan.model.findings import ClassVerdict, Diagnosis, Evidence, Finding, Headline
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.kernels import Collective, KernelClass
from nsysan.model.lateness import Lateness
from nsysan.model.packing import pack
from nsysan.model.partition import Part, PartTimes
from nsysan.model.profilers import Profiler
from nsysan.model.purposes import Purpose
from nsysan.model.results import Result, ResultSet, Skipped
from nsysan.model.run import SCHEMA_VERSION, Note, Provenance, ReportInfo, Run
from nsysan.model.trace import RankSource
from nsysan.model.verdicts import BottleneckClass, ClassState, Severity
from tests.report.ceiling_results import GEMMS, HELD
from tests.report.diagnosed import LOSSES, THROUGHPUT
from tests.report.inside import INSIDE
from tests.report.nccl_words import NCCL_LOGS, NCCL_TESTS
from tests.report.side_evidence import GPU_SAMPLES, SCHEDULER_JOBS, TRAINING_LOGS
from tests.report.staged import STAGED
from tests.report.waits import WAITS

RESULT_TYPES: tuple[type[Result], ...] = (
    GpuTime,
    Steps,
    IdleGaps,
    Ranges,
    KernelSummary,
    CopySummary,
    Baseline,
    Timeline,
    Collectives,
    Stragglers,
    *(type(result) for result in (*INSIDE, *STAGED, LOSSES, THROUGHPUT)),
    NcclLogs,
    NcclTests,
    *(type(result) for result in (*WAITS, GEMMS, HELD)),
    TrainingLogs,
    SampledGpus,
    SchedulerAccounts,
)
WHY = "this run holds no steps, so the window may include start-up"

# 600 + 100 + 0 + 0 + 150 + 50 + 100 = 1,000 ms, and 500 + 100 + 0 + 0 + 100 + 50 + 250 = 1,000 ms
FIRST_TIME = PartTimes(600_000_000, 100_000_000, 0, 0, 150_000_000, 50_000_000, 100_000_000)
SECOND_TIME = PartTimes(500_000_000, 100_000_000, 0, 0, 100_000_000, 50_000_000, 250_000_000)


def causes_of(**times_ms: int) -> IdleCauses:
    """Idle time of so many ms a cause."""
    return IdleCauses.of_times({Cause(name): time_ms * 1_000_000 for name, time_ms in times_ms.items()})


def gpu(
    gpu_id: str, time: PartTimes, *, devices: tuple[str, ...] | None = None, causes: IdleCauses | None = None
) -> GpuTimes:
    """A GPU with this partition from 2 s on, one device unless told, and whatever follows from the parts."""
    window_ns = time.window_ns
    hidden, exposed = time.overlapped_ns, time.exposed_communication_ns
    return GpuTimes(
        id=gpu_id,
        name="NVIDIA H100 80GB HBM3",
        uuid=None,
        devices=devices or (f"{gpu_id}/p100",),
        window_start_ns=2_000_000_000,
        window_end_ns=2_000_000_000 + window_ns,
        time=time,
        compute_busy_frac=(time.compute_only_ns + hidden + time.fused_ns) / window_ns if window_ns else None,
        device_active_frac=1 - time.idle_ns / window_ns if window_ns else None,
        overlap_frac=hidden / (hidden + exposed) if hidden + exposed else None,
        exposed_communication_max_ns=exposed + time.opaque_graph_ns,
        work_ns=window_ns,
        idle_gap_count=3,
        longest_idle_gap_ns=time.idle_ns // 2,
        idle_causes=causes,
    )


def device(device_id: str, gpu_times: GpuTimes, **changes: object) -> DeviceTimes:
    """The one device of a GPU: 2 s of the capture before its window, half a second after it."""
    times = DeviceTimes(
        id=device_id,
        report=0,
        gpu=gpu_times.id,
        pid=100,
        device_id=0,
        window_start_ns=gpu_times.window_start_ns,
        window_end_ns=gpu_times.window_end_ns,
        lead_idle_ns=2_000_000_000,
        trail_idle_ns=500_000_000,
        time=gpu_times.time,
        idle_gap_count=gpu_times.idle_gap_count,
        longest_idle_gap_ns=gpu_times.longest_idle_gap_ns,
        excluded_records={},
    )
    return replace(times, **changes)  # type: ignore[arg-type]  # the caller names fields of its own


def gpu_time(gpus: Sequence[GpuTimes], devices: Sequence[DeviceTimes] | None = None) -> GpuTime:
    """The result over these GPUs, with the job's shares computed from those that have a window."""
    if devices is None:
        devices = [device(device_id, entry) for entry in gpus for device_id in entry.devices]
    good = (Part.COMPUTE_ONLY, Part.OVERLAPPED, Part.FUSED)
    judged = [entry for entry in gpus if entry.time.window_ns]
    time = {
        part.value: _spread(judged, [entry.time.of(part) / entry.time.window_ns for entry in judged], low=part in good)
        for part in Part
    }
    busy = [entry.compute_busy_frac for entry in judged if entry.compute_busy_frac is not None]
    active = [entry.device_active_frac for entry in judged if entry.device_active_frac is not None]
    job = JobTimes(
        len(gpus), PartSpreads(**time), _spread(judged, busy, low=True), _spread(judged, active, low=True), None
    )
    return GpuTime(tuple(gpus), tuple(devices), job)


def _spread(gpus: Sequence[GpuTimes], shares: Sequence[float], *, low: bool = False) -> Spread:
    worst = min(shares) if low else max(shares)
    mean = sum(shares) / len(shares)
    return Spread(mean, worst, gpus[shares.index(worst)].id, max(shares) - min(shares))


# the causes of 100 and of 250 ms
FIRST_CAUSES = causes_of(data_loading=60, launch_starved=30, handover=10)
SECOND_CAUSES = causes_of(data_loading=200, launch_starved=50)
TWO_GPUS = gpu_time((gpu("gpu0", FIRST_TIME), gpu("gpu1", SECOND_TIME)))
EXPLAINED_GPUS = gpu_time(
    (gpu("gpu0", FIRST_TIME, causes=FIRST_CAUSES), gpu("gpu1", SECOND_TIME, causes=SECOND_CAUSES))
)
ONE_GPU = gpu_time((gpu("gpu0", FIRST_TIME),))

STORY = GapStory(
    sentence="Thread 101 loaded data in next(loader) for 100.000 ms and launched nothing for 25.000 ms; then "
    "cudaLaunchKernel started ncclDevKernel_AllReduce.",
    call=GapCall("cudaLaunchKernel", 2_248_000_000, 2_249_000_000, 101),
    spans=(
        GapSpan(2_125_000_000, 2_225_000_000, Cause.DATA_LOADING, 101, "next(loader)", 100_000_000),
        GapSpan(2_225_000_000, 2_250_000_000, Cause.LAUNCH_STARVED, None, None, 0),
    ),
    ranges=("step 1", "forward"),
    marks=("epoch ends",),
    ran_before=("sgemm",),
    ran_after=("ncclDevKernel_AllReduce", "sgemm"),
)

# 2 gaps of 25 ms on gpu0 and 1 of 50 ms; on gpu1 2 of 125 ms: 100 and 250 ms
GAPS = IdleGaps(
    gaps=(
        Gap(
            "gpu1",
            2_125_000_000,
            2_250_000_000,
            125_000_000,
            "sgemm",
            "ncclDevKernel_AllReduce",
            {"data_loading_ns": 100_000_000, "launch_starved_ns": 25_000_000},
            STORY,
        ),
        Gap("gpu1", 2_500_000_000, 2_625_000_000, 125_000_000, "[memset]", "sgemm"),
        Gap("gpu0", 2_100_000_000, 2_150_000_000, 50_000_000, None, "sgemm"),
        Gap("gpu0", 2_300_000_000, 2_325_000_000, 25_000_000, "sgemm", "[memory copy]"),
        Gap("gpu0", 2_600_000_000, 2_625_000_000, 25_000_000, "sgemm", None),
    ),
    gap_sizes=(
        GapSizes("gpu0", 10_000_000, 100_000_000, 3, 100_000_000),
        GapSizes("gpu0", 100_000_000, None, 0, 0),
        GapSizes("gpu1", 10_000_000, 100_000_000, 0, 0),
        GapSizes("gpu1", 100_000_000, None, 2, 250_000_000),
    ),
)


def kernel(name: str, kernel_class: KernelClass, total_ns: int, *, count: int = 10, of_ns: int = 2_000) -> KernelRow:
    """A kernel on both GPUs whose runs all take the same time, and whose share is of ``of_ns`` million ns."""
    collective = Collective.ALL_REDUCE if kernel_class is KernelClass.COMMUNICATION else None
    share = total_ns / (of_ns * 1_000_000)
    each_ns = total_ns // count
    return KernelRow(name, "0" * 16, kernel_class, collective, count, 2, total_ns, float(each_ns), each_ns, share)


KERNELS = KernelSummary(
    kernels=(
        kernel("sgemm", KernelClass.GEMM, 1_000_000_000),
        kernel("ncclDevKernel_AllReduce", KernelClass.COMMUNICATION, 450_000_000),
        kernel("mystery", KernelClass.OTHER, 500_000_000, count=250),
    ),
    kernels_omitted=OmittedKernels(3, 7, 50_000_000),
    kernel_classes=(
        KernelClassRow(KernelClass.GEMM, 1, 10, 1_000_000_000, 100_000_000.0, 100_000_000, 0.5),
        KernelClassRow(KernelClass.OTHER, 4, 257, 550_000_000, 2_000_000.0, 2_000_000, 0.275),
        KernelClassRow(KernelClass.COMMUNICATION, 1, 10, 450_000_000, 45_000_000.0, 45_000_000, 0.225),
    ),
)

COPIES = CopySummary(
    copies=(
        CopyRow(
            "host_to_device", "pageable", "device", 4, 2, 800_000_000, 0, 80_000_000, 20_000_000.0, 20_000_000, 1e10,
            1.68e11, 6.4e10, "PCIe 5.0 x16", 2,
        ),
        CopyRow(
            "device_to_host", "device", "pinned", 2, 2, 200_000_000, 0, 10_000_000, 5_000_000.0, 5_000_000, 2e10, 2e10,
            6.4e10, "PCIe 5.0 x16", 0,
        ),
        CopyRow("memset", None, "device", 6, 2, 600, 0, 6_000, 1_000.0, 1_000, 1e8, 1e8, None, None, 0),
    ),
)  # fmt: skip

MS = 1_000_000


def step(number: int, duration_ms: int, idle_ms: int, *, excluded: Exclusion | None = None) -> Step:
    """A step that computes but for idle time of which 2 ms are handover and the rest waits for data."""
    start_ns = 2_000_000_000 + number * 100 * MS
    time = PartTimes((duration_ms - idle_ms) * MS, 0, 0, 0, 0, 0, idle_ms * MS)
    causes = {"data_loading_ns": (idle_ms - 2) * MS, "handover_ns": 2 * MS}
    return Step(f"step {number}", start_ns, start_ns + duration_ms * MS, duration_ms * MS, time, causes, excluded)


# of the steps that count two of four are slow ones, which come every second time
STEPS_OF_FIRST = StepsOfDevice(
    id="gpu0/p100",
    source=StepSource.NVTX,
    marker="step *",
    step_count=5,
    count=4,
    lead_ns=3 * MS,
    open_ns=4 * MS,
    median_ns=70.0 * MS,
    mean_ns=70.0 * MS,
    p90_ns=100 * MS,
    max_ns=100 * MS,
    slow_count=2,
    slow_every=2,
    trend_frac=None,
    time=PartTimes(42 * MS, 0, 0, 0, 0, 0, 28 * MS),
    idle_causes=causes_of(data_loading=26, handover=2),
    list=(
        step(0, 80, 10, excluded=Exclusion.WARM_UP),
        step(1, 40, 16),
        step(2, 100, 40),
        step(3, 40, 16),
        step(4, 100, 40),
    ),
)
STEPS = Steps(
    StepTable(
        source=StepSource.NVTX,
        marker="step *",
        excluded=(ExcludedSteps("gpu0/p100", Exclusion.WARM_UP, 1),),
        devices=(STEPS_OF_FIRST,),
    )
)
WINDOW_START_NS = 2_000_000_000


def lane(*pieces: tuple[int, dict[str, int]], gpu_count: int = 1) -> Lane:
    """A lane from 2 s on, of pieces of so many ms that hold so many ms of these parts and causes."""
    edges_ns = WINDOW_START_NS + np.cumsum([0, *(length for length, _ in pieces)]) * MS
    times_ns = np.array([[shares.get(part.value, 0) for part in Part] for _, shares in pieces]) * MS
    causes_ns = np.array([[shares.get(cause.value, 0) for cause in CAUSES_LAST_FIRST] for _, shares in pieces]) * MS
    times_ns[:, list(Part).index(Part.IDLE)] += causes_ns.sum(axis=1)
    return pack_lane(edges_ns, times_ns, gpu_count, causes_ns)


def whole(*pieces: tuple[int, str]) -> Lane:
    """A lane whose pieces hold one part each."""
    return lane(*((length, {part: length}) for length, part in pieces))


# the gaps above, and between them what makes up the partition of each GPU; the order within the mixed piece is unknown
FIRST_LANE = lane(
    (100, {"compute_only": 100}),
    (50, {"idle": 50}),
    (150, {"exposed_communication": 150}),
    (25, {"idle": 25}),
    (275, {"compute_only": 125, "overlapped": 100, "exposed_copy": 50}),
    (25, {"idle": 25}),
    (375, {"compute_only": 375}),
)
SECOND_LANE = whole(
    (125, "compute_only"),
    (125, "idle"),
    (100, "exposed_communication"),
    (100, "overlapped"),
    (50, "exposed_copy"),
    (125, "idle"),
    (375, "compute_only"),
)


def gpu_lanes(gpu_id: str, lane: Lane, *, threads: tuple[ThreadRanges, ...] = ()) -> GpuLanes:
    """A GPU with one stream, whose first 500 ms hold a kernel of 100 ms and a copy of 50 ms at their ends."""
    stream = whole((100, "compute_only"), (350, "idle"), (50, "exposed_copy"), (500, "idle"))
    # since the begin before, duration, name * 5 + kind
    activities = [WINDOW_START_NS, 100 * MS, 1 * 5 + 0, 450 * MS, 50 * MS, 2 * 5 + 4]
    streams = (StreamLane(100, 1, 7, stream, 2, pack(np.array(activities))),)
    exact = ((WINDOW_START_NS, WINDOW_START_NS + 300 * MS),)
    return GpuLanes(gpu_id, 0, lane, exact, streams, 0, threads)


# a step of 400 ms from 100 ms on, and inside it a forward of 200 ms: since the begin before, duration, name, depth
THREAD = ThreadRanges(100, 101, 2, 3, 5 * MS, pack(np.array([100 * MS, 400 * MS, 3, 0, 0, 200 * MS, 4, 1])))
FIRST_HALF = PartTimes(350 * MS, 100 * MS, 0, 0, 250 * MS, 50 * MS, 250 * MS)
SECOND_HALF = PartTimes(750 * MS, 100 * MS, 0, 0, 0, 50 * MS, 100 * MS)
TIMELINE = Timeline(
    TimelineLanes(
        start_ns=WINDOW_START_NS,
        end_ns=WINDOW_START_NS + 1_000 * MS,
        gpu_count=2,
        columns=COLUMNS,
        stretches=(
            Stretch(2_000_000_000, 2_500_000_000, FIRST_HALF),
            Stretch(2_500_000_000, 3_000_000_000, SECOND_HALF),
        ),
        all_gpus=lane(
            (
                500,
                {"compute_only": 350, "overlapped": 100, "exposed_communication": 250, "exposed_copy": 50, "idle": 250},
            ),
            (500, {"compute_only": 750, "overlapped": 100, "exposed_copy": 50, "idle": 100}),
            gpu_count=2,
        ),
        lanes=(gpu_lanes("gpu0", FIRST_LANE, threads=(THREAD,)), gpu_lanes("gpu1", SECOND_LANE)),
        kernel_places=(KernelPlace("0" * 16, "gpu0", 2_000_000_000, 100 * MS),),
        part_places=(PartPlace(Part.EXPOSED_COMMUNICATION, "gpu0", 2_150_000_000, 2_300_000_000),),
        names=("sgemm", "[memory copy]", "step 1", "forward"),
    )
)

RANGES = Ranges(
    ranges=(
        RangeTimesOfName("step *", None, RangeKind.PUSH_POP, 5, 1, 0, 500 * MS, 100 * MS, 900 * MS, 0, 0, 5 * MS),
        RangeTimesOfName(
            "forward", "model", RangeKind.PUSH_POP, 5, 0, 0, 400 * MS, 400 * MS, 900 * MS, 900 * MS, 0, 20 * MS
        ),
        RangeTimesOfName("request *", None, RangeKind.START_END, 9, 0, 0, 300 * MS, None, 50 * MS, None, 7 * MS, 0),
    ),
    ranges_omitted_count=1,
    range_tree=(
        RangeNode(None, "setup", None, 1, 80 * MS, 0),
        RangeNode(None, "step *", None, 5, 500 * MS, 900 * MS, 100 * MS, 0),
        RangeNode(1, "backward", None, 5, 100 * MS, 0, 100 * MS, 0),
        RangeNode(1, "forward", "model", 5, 300 * MS, 900 * MS, 100 * MS, 0),
        RangeNode(3, "layer *", None, 50, 200 * MS, 900 * MS, 200 * MS, 900 * MS),
    ),
    range_nodes_omitted_count=2,
)

BASELINE = Baseline(
    BaselineFigures(
        tokens_per_s=None,
        compute_busy_frac=0.65,
        mfu=None,
        communication_wait_frac=None,
        data_wait_ns_per_step=None,
        peak_memory_bytes=None,
        unknown={
            "tokens_per_s": "no batch size was given",
            "mfu": "no model was given",
            "communication_wait_frac": "waiting is not judged yet",
            "data_wait_ns_per_step": WHY,
            "peak_memory_bytes": "no memory use was recorded",
        },
    )
)

REPORT = ReportInfo(
    name="rank0.sqlite",
    fingerprint="12345678-0123456789abcdef" + "f" * 48,
    sha256=None,
    size_bytes=12_345_678,
    reader="nsys_sqlite",
    profiler=Profiler.NSYS,
    nsys_version="2025.6.1",
    export_schema="3.25.0",
    capture_ns=3_500_000_000,
    session_start_utc_ns="1779630014975716426",
    rank=None,
    world_size=None,
    clock_offset_ns=0,
    clock_residual_ns=None,
    unreadable_records={},
)

FINDING = Finding(
    id="gpu_idle",
    bottleneck_class=BottleneckClass.SCHEDULING,
    cause="launch_starved",
    severity=Severity.WARNING,
    title="gpu1 idles for 250 ms",
    recoverable_ns=150_000_000,
    evidence=(Evidence("Two gaps of 125 ms hold all of it", "idle_gaps"),),
    advice=("Look at what the host does before them",),
)

NO_VERDICT = Diagnosis(None, WHY, {each: ClassVerdict(ClassState.UNKNOWN, None, None) for each in BottleneckClass})
HEADLINE = Headline(
    bottleneck_class=BottleneckClass.DATA,
    cause="data_loading",
    rank=1,
    finding="data_wait",
    sentence="Data holds this job back: 250 of 1,000 ms wait for the next batch",
)

ALL_REDUCES = CollectiveRow(
    kind="all_reduce",
    backend="nccl",
    communicator="0xd1373f8c6ac1ba54",
    purpose=Purpose.DATA_PARALLEL,
    purpose_confidence=Confidence.HIGH,
    ranks=(0, 1),
    nodes=1,
    dtype="BFloat16",
    stage=None,
    count=10,
    complete_count=9,
    bytes=300_000_000,
    duration_ns=250_000_000,
    exposed_ns=200_000_000,
    transfer_ns=30_000_000,
    wait_ns=120_000_000,
    wait_by_rank_ns=(100_000_000, 20_000_000),
    algbw_bytes_per_s=9e10,
    busbw_bytes_per_s=9e10,
    contended_frac=0.25,
    ceiling_bytes_per_s=1.2e11,
    ceiling_source="measured all_reduce of 2 ranks",
    unresolved=None,
)
UNRESOLVED = replace(
    ALL_REDUCES,
    kind="broadcast",
    complete_count=0,
    bytes=None,
    duration_ns=50_000_000,
    transfer_ns=None,
    wait_ns=None,
    wait_by_rank_ns=None,
    algbw_bytes_per_s=None,
    busbw_bytes_per_s=None,
    contended_frac=None,
    ceiling_bytes_per_s=None,
    ceiling_source=None,
    unresolved="its root is not recorded",
)
COLLECTIVES = Collectives(
    collectives=(ALL_REDUCES, UNRESOLVED),
    collectives_omitted_count=3,
    ranks=(
        RankRow(0, "gpu0/p100", RankSource.ENVIRONMENT, 100_000_000, 90_000_000, 10_000_000),
        RankRow(1, "gpu1/p100", RankSource.ENVIRONMENT, 20_000_000, 15_000_000, 10_000_000),
    ),
    world_size=2,
)
STRAGGLERS = Stragglers(
    (
        Straggler(
            rank=1,
            device="gpu1/p100",
            late_count=8,
            instance_count=9,
            late_frac=8 / 9,
            pattern=Pattern.PERSISTENT,
            late_ns=12_000_000.0,
            caused_ns=100_000_000,
            why=WhyLate(Lateness.CLOCK_THROTTLE, 90_000_000.0, 1.35),
        ),
        Straggler(0, "gpu0/p100", 1, 9, 1 / 9, Pattern.ROTATING, 20_000_000.0, 20_000_000, None),
    )
)

RESULTS: tuple[Result, ...] = (
    EXPLAINED_GPUS,
    STEPS,
    GAPS,
    RANGES,
    KERNELS,
    COPIES,
    BASELINE,
    TIMELINE,
    COLLECTIVES,
    STRAGGLERS,
    *INSIDE,
    *STAGED,
    NCCL_LOGS,
    NCCL_TESTS,
    *WAITS,
    LOSSES,
    THROUGHPUT,
    GEMMS,
    HELD,
    TRAINING_LOGS,
    GPU_SAMPLES,
    SCHEDULER_JOBS,
)


def run_of(*results: Result | Skipped) -> Run:
    """A run of one report with these results, and neither notes nor findings nor a verdict."""
    return Run(
        schema_version=SCHEMA_VERSION,
        nsysan_version="0.1.0",
        created_utc="2026-11-30T07:00:00Z",
        options={"from": None, "gpu": None, "hash": False, "only": []},
        provenance=Provenance("nsysan", None),
        reports=(REPORT,),
        notes=(),
        results=ResultSet({result.id: result for result in results}),
        diagnosis=NO_VERDICT,
        findings=(),
    )


def full_run() -> Run:
    """Everything there is to show."""
    notes = (Note("start_up", "The window may include start-up"),)
    run = run_of(*RESULTS, Skipped("launches", "no CUDA calls were recorded", "Record calls: --trace=cuda"))
    return replace(run, notes=notes, findings=(FINDING,))


def skipped_run() -> Run:
    """A run whose every question was skipped."""
    return run_of(
        *(Skipped(kind.id, "the trace holds no GPU work", "Record CUDA: --trace=cuda") for kind in RESULT_TYPES)
    )


def empty_run() -> Run:
    """A run whose results are all there and hold no gap, kernel, copy or figure: a memset fills the window."""
    nothing = BaselineFigures(None, None, None, None, None, None, {})
    return run_of(
        gpu_time((gpu("gpu0", PartTimes(0, 0, 0, 0, 0, 1_000, 0)),)),
        IdleGaps((), ()),
        KernelSummary((), OmittedKernels(0, 0, 0), ()),
        CopySummary(()),
        Baseline(nothing),
    )


def bare_run() -> Run:
    """A run that holds no result at all, not even why."""
    return replace(run_of(), reports=(), options={})
