"""Runs made by hand: two GPUs whose figures a reader can add up, and what a run without answers looks like."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.baseline import Baseline, BaselineFigures
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.copy_summary import CopySummary
from nsysan.analysis.gpu_samples import SampledGpus
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_gaps import IdleGaps
from nsysan.analysis.kernel_summary import KernelSummary, OmittedKernels
from nsysan.analysis.nccl_logs import NcclLogs
from nsysan.analysis.nccl_tests import NcclTests
from nsysan.analysis.ranges import Ranges
from nsysan.analysis.scheduler_jobs import SchedulerAccounts
from nsysan.analysis.steps import Steps
from nsysan.analysis.stragglers import Stragglers
from nsysan.analysis.timeline import Timeline
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.model.findings import ClassVerdict, Diagnosis, Evidence, Finding, Headline
from nsysan.model.partition import PartTimes
from nsysan.model.profilers import Profiler
from nsysan.model.results import Result, ResultSet, Skipped
from nsysan.model.run import SCHEMA_VERSION, Note, Provenance, ReportInfo, Run
from nsysan.model.verdicts import BottleneckClass, ClassState, Severity
from tests.report.ceiling_results import GEMMS, HELD
from tests.report.diagnosed import LOSSES, THROUGHPUT
from tests.report.drawn_lanes import TIMELINE
from tests.report.gpu_times import EXPLAINED_GPUS, gpu, gpu_time
from tests.report.inside import INSIDE
from tests.report.joint_work import COLLECTIVES, STRAGGLERS
from tests.report.nccl_words import NCCL_LOGS, NCCL_TESTS
from tests.report.recorded import COPIES, GAPS, KERNELS, RANGES, STEPS
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
