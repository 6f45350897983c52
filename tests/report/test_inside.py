"""Memory, counters, occupancy and host on the page and in the text: sentences and tables from results made by hand."""

from __future__ import annotations

from dataclasses import replace

from nsysan.analysis.counters import CounterMeans, Counters, CountersOfGpu, PartFracs, PartSamples
from nsysan.analysis.gpu_contexts import GpuContext
from nsysan.analysis.host import HostReport, HostView
from nsysan.analysis.launching_threads import LaunchingThread, SampledFunction
from nsysan.analysis.memory import Memory, MemoryOfGpu, MemoryReport, MemorySource
from nsysan.analysis.memory_in_steps import MemoryInSteps
from nsysan.analysis.named_calls import CallsOfName
from nsysan.analysis.network_counters import NetworkCounter
from nsysan.analysis.recomputation import Confidence, Recomputation, RecomputationOfDevice, RecomputedKernel
from nsysan.analysis.theoretical_occupancy import Occupancy, OccupancyOfKernel
from nsysan.attribution.backward import BackwardSource
from nsysan.hardware.occupancy import Limiter
from nsysan.model.counters import Counter
from nsysan.model.results import Result
from nsysan.report.elements import Table
from nsysan.report.formats.text import render_text
from nsysan.report.sections import counters, host, memory, theoretical_occupancy
from tests.report.runs import run_of

DEVICE = "r0/p100/d0"
GB = 1_000_000_000
CURVE = ((10, 40 * GB), (20, 60 * GB), (28, 50 * GB), (30, 50 * GB))
PEAK = MemoryOfGpu("gpu1", MemorySource.DRIVER_RESERVED, 80 * GB, 0, 60 * GB, 20, 50 * GB, 9, CURVE)
FULL = Memory(
    MemoryReport(
        gpus=(replace(PEAK, gpu="gpu0", peak_bytes=50 * GB), PEAK),
        in_steps=(MemoryInSteps(DEVICE, 5, 10, 4_000_000, 5, 2, 8_000_000, 1_000_000),),
        page_faults=(),
        unknown={"page_faults": "the trace holds no page faults"},
    )
)
AGAIN = Recomputation(
    (RecomputationOfDevice(DEVICE, BackwardSource.RANGES, Confidence.HIGH, 5, 40, 25, 60, 100, 0.25),),
    (RecomputedKernel("flash_fwd", "0", 40, 25),),
)
NO_PARTS = PartFracs(*[None] * 7)
IDLE = replace(NO_PARTS, idle_frac=0.0)


def means(counter: Counter, window: float, parts: PartFracs = NO_PARTS) -> CounterMeans:
    return CounterMeans(counter, 1, window, None, parts)


def sampled(gpu: str | None, *found: CounterMeans) -> CountersOfGpu:
    return CountersOfGpu(gpu, 0, 10, 100_000, 1_000_000, PartSamples(*[0] * 7), None, found)


SAMPLED = Counters(
    (
        sampled(
            "gpu0", means(Counter.SM_ACTIVE, 0.8, replace(NO_PARTS, idle_frac=0.0)), means(Counter.TENSOR_ACTIVE, 0.4)
        ),
        sampled("gpu1", means(Counter.SM_ACTIVE, 0.6), means(Counter.TENSOR_ACTIVE, 0.2)),
    ),
    (NetworkCounter(0, "mlx5_0", 1, "IB: Bytes sent", "bytes/ms", 5, 1_234.5, 2_000),),
)
CALLS = CallsOfName("cudaFree", 3, 6_000_000, 5_000_000, 2_000_000.0, 3_000_000)
THREAD = LaunchingThread(0, 100, 101, 1_000, 2_500.0, 5_000_000, None, None, None, None)
OWN = GpuContext(0, 0, "gpu0", 100, is_recorded=True, turn_count=2, resident_ns=9_000_000, in_idle_ns=0)
FOREIGN = replace(OWN, pid=900, is_recorded=False, resident_ns=3_000_000, in_idle_ns=2_000_000)
HOST = HostReport(
    cuda_calls=(CALLS,),
    os_calls=(),
    threads=(THREAD,),
    functions=(SampledFunction("forward", 3, 0.75),),
    gpu_contexts=(OWN, FOREIGN),
    runs_mps=False,
    unknown={},
)

ALLOCATIONS = (
    "10 calls in 5 steady steps of r0/p100/d0 allocate or free memory. They take 4.000 ms, waits for the GPU included."
)
REPEATED = (
    "25.0 % of the compute kernels' time in steady steps of r0/p100/d0 repeats the forward inside the backward, to "
    "save memory (confidence high; the backward is told by a range named so)."
)
FOREIGN_SENTENCE = (
    "1 context of processes that were not recorded ran on these GPUs for 3.000 ms, 2.000 ms of it while the "
    "recorded work idled."
)


def text_of(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def memory_view(*results: Result) -> memory.MemoryView:
    view = memory.SECTION.build(run_of(*results))
    assert isinstance(view, memory.MemoryView)
    return view


def test_the_fullest_gpu_heads_the_section_on_memory() -> None:
    view = memory_view(FULL, AGAIN)

    assert view.heading == "At its peak 60.000 GB of gpu1 are taken, 75.0 % of 80.000 GB"
    assert list(view.sentences) == [
        ALLOCATIONS,
        "2 copies of 8.000 MB in steady steps of r0/p100/d0 go through pageable memory and take 1.000 ms.",
        REPEATED,
        "The trace holds no page faults.",
    ]
    assert [table.id for table in view.tables] == ["memory-gpus", "memory-steps", "recomputed-kernels"]
    assert text_of(view.tables[0])[1] == [
        "gpu1", "driver reserved", "60.000 GB", "0.000000020s", "75.0 %", "0 B", "50.000 GB", "9",
    ]  # fmt: skip


def test_the_curve_stands_under_all_that_the_gpu_has() -> None:
    chart = memory_view(FULL).chart

    assert chart is not None
    # 40, 60 and 50 of 80 GB in 120 pixels: 60, 90 and 75 high, and the line is at the top
    assert {block.height for column in chart.columns for block in column.blocks} == {"60", "90", "75"}
    assert (chart.line_y, len(chart.columns)) == ("0", 120)


def test_memory_that_nobody_counted_has_no_curve() -> None:
    nothing = replace(FULL.memory, gpus=(), unknown={"gpus": "the trace holds no memory events. Record more."})

    view = memory_view(Memory(nothing))

    assert (view.heading, view.chart, view.ticks) == ("How much memory is taken was not recorded", None, ())
    assert view.sentences[-1] == "The trace holds no memory events. Record more."


def test_counters_are_means_over_gpus_and_parts_without_samples_are_left_out() -> None:
    view = counters.SECTION.build(run_of(SAMPLED))

    assert isinstance(view, counters.CountersView)
    assert view.heading == "Multiprocessors active 70.0 % and tensor cores active 30.0 % of the window"
    of_gpus, of_network = view.tables
    assert [column.label for column in of_gpus.columns][2:] == ["window", "least", "most", "steady steps", "idle"]
    assert [row[2:] for row in text_of(of_gpus)] == [
        ["70.0 %", "60.0 %", "80.0 %", "no sample", "0.0 %"],
        ["30.0 %", "20.0 %", "40.0 %", "no sample", "no sample"],
    ]
    assert text_of(of_network) == [["mlx5_0", "0", "1", "IB: Bytes sent", "1,234.5", "2,000", "bytes/ms"]]


def test_counters_of_no_known_gpu_say_so() -> None:
    view = counters.SECTION.build(run_of(Counters((sampled(None, means(Counter.SM_ACTIVE, 0.5)),), ())))

    assert view is not None
    assert view.context is not None
    assert view.context.endswith("The report does not tell which process used which GPU: parts and steps are unknown.")


def test_occupancy_is_called_theoretical() -> None:
    found = Occupancy((OccupancyOfKernel("gemm", "0", 2, 5_000, 0.1875, 0.125, Limiter.SHARED_MEMORY),), 0.1875, 3)

    view = theoretical_occupancy.SECTION.build(run_of(found))

    assert isinstance(view, theoretical_occupancy.OccupancyView)
    assert view.context is not None
    assert view.context.startswith("Theoretical occupancy from registers, shared memory and block size; nothing of it")
    assert text_of(view.tables[0]) == [["gemm", "", "18.8 %", "12.5 %", "shared memory", "2", "5.000 µs"]]


def test_other_processes_on_the_gpu_are_named() -> None:
    view = host.SECTION.build(run_of(HostView(HOST)))

    assert isinstance(view, host.HostSection)
    assert view.heading == "Of the CUDA calls of 1 launching thread, cudaFree takes most: 5.000 ms"
    assert view.sentences == (
        FOREIGN_SENTENCE,
        "Found on a core, launching threads were most often in forward: 75.0 %.",
    )
    assert [table.id for table in view.tables] == [
        "launching-threads",
        "cuda-calls",
        "sampled-functions",
        "gpu-contexts",
    ]
    assert text_of(view.tables[0]) == [
        ["101", "0", "1,000", "2,500", "5.000 ms", "unknown", "unknown", "unknown"],
    ]  # fmt: skip


def test_without_records_there_are_no_sections() -> None:
    nothing = run_of()

    assert [section.SECTION.build(nothing) for section in (memory, counters, host, theoretical_occupancy)] == [None] * 4


def test_the_text_says_what_stands_out() -> None:
    text = render_text(run_of(FULL, AGAIN, SAMPLED, HostView(HOST)))

    for sentence in (
        "At its peak 60.000 GB of gpu1 are taken, 75.0 % of 80.000 GB.",
        "Multiprocessors active 70.0 % and tensor cores active 30.0 % of the window.",
        "2 copies of 8.000 MB in steady steps of r0/p100/d0 go through pageable memory and take 1.000 ms.",
    ):
        assert sentence in text
