"""Memory, counters, occupancy and host on the page and in the text: sentences and tables from results made by hand."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.counters import Counters
from nsysan.analysis.host import HostView
from nsysan.analysis.memory import Memory
from nsysan.analysis.synchronization import Synchronization
from nsysan.model.counters import Counter
from nsysan.model.partition import PartTimes
from nsysan.model.results import Result
from nsysan.report.elements import Table
from nsysan.report.formats.text import render_text
from nsysan.report.sections import counters, host, memory, theoretical_occupancy
from tests.report.gpu_times import gpu, gpu_time
from tests.report.inside import AGAIN, FULL, HOST, LAUNCHES, OCCUPANCY, SAMPLED, WAITS, means, sampled
from tests.report.runs import run_of

NEVER = replace(WAITS.synchronization[0], total_ns=0, in_idle_ns=0, in_busy_ns=0)

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


def test_the_curve_spans_the_window_even_where_all_was_taken_before() -> None:
    taken = replace(FULL.memory, gpus=(replace(FULL.memory.gpus[1], gpu="gpu0", curve=((0, 60 * 10**9),)),))
    view = memory_view(Memory(taken), gpu_time([gpu("gpu0", PartTimes(700, 0, 0, 0, 0, 0, 300))]))

    assert [tick.label for tick in view.ticks] == ["0.000000000s", "2.000001000s"]
    assert view.chart is not None
    assert {block.height for column in view.chart.columns for block in column.blocks} == {"90"}


def test_the_text_says_how_long_the_host_waited_and_how_full_its_queue_was() -> None:
    blocked = replace(HOST, os_calls=(replace(HOST.cuda_calls[0], name="poll", on_launching_ns=7_000),))

    assert host.waits_sentence(run_of(HostView(HOST), WAITS, LAUNCHES)) == (
        "The host waited 98 ns for r0/p100/d0, 3 ns of it while that idled. 50.0 % of its launches found nothing "
        "queued."
    )
    assert host.waits_sentence(run_of(HostView(blocked), Synchronization((NEVER,)))) == (
        "No synchronisation made the host wait for r0/p100/d0. "
        "In the operating system launching threads spent 7.000 µs in poll."
    )
    assert host.waits_sentence(run_of(WAITS)) is None


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
    view = theoretical_occupancy.SECTION.build(run_of(OCCUPANCY))

    assert isinstance(view, theoretical_occupancy.OccupancyView)
    assert view.context is not None
    assert view.context.startswith("Theoretical occupancy from registers, shared memory and block size; nothing of it")
    assert text_of(view.tables[0]) == [["gemm", "", "18.8 %", "12.5 %", "shared memory", "2", "5.000 µs"]]


def test_other_processes_on_the_gpu_are_named() -> None:
    view = host.SECTION.build(run_of(HostView(HOST), LAUNCHES, WAITS))

    assert isinstance(view, host.HostSection)
    assert view.heading == "Of the CUDA calls of 1 launching thread, cudaFree takes most: 5.000 ms"
    assert view.sentences == (
        FOREIGN_SENTENCE,
        "Found on a core, launching threads were most often in forward: 75.0 %.",
    )
    assert [table.id for table in view.tables] == [
        "launching-threads",
        "launches",
        "host-waits",
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
