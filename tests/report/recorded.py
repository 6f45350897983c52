"""Gaps with a story, kernels, copies, steps and ranges, on the two GPUs."""

from __future__ import annotations

from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.analysis.gap_sentence import GapCall, GapSpan
from nsysan.analysis.gap_story import GapStory
from nsysan.analysis.idle_gaps import Gap, GapSizes, IdleGaps
from nsysan.analysis.kernel_summary import KernelClassRow, KernelRow, KernelSummary, OmittedKernels
from nsysan.analysis.ranges import RangeKind, RangeNode, Ranges, RangeTimesOfName
from nsysan.analysis.steps import ExcludedSteps, Steps, StepTable
from nsysan.analysis.steps_of_device import Step, StepsOfDevice
from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.job_steps import StepSource
from nsysan.model.idle import Cause
from nsysan.model.kernels import Collective, KernelClass
from nsysan.model.partition import PartTimes
from tests.report.gpu_times import causes_of

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
