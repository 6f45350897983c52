"""The story of a gap in one sentence, for every cause."""

from __future__ import annotations

import pytest

from nsysan.analysis.gap_sentence import GapCall, GapSpan, Recorded, tell
from nsysan.model.idle import Cause

MS = 1_000_000
LAUNCH = GapCall("cudaLaunchKernel_v7000", 0, 1, 7)
NOTHING, EVERYTHING = Recorded(scheduling=False, os_calls=False), Recorded(scheduling=True, os_calls=True)


def told(*spans: GapSpan, call: GapCall | None = LAUNCH, after: str | None = "k", recorded: Recorded = NOTHING) -> str:
    """The sentence of a gap that these stretches fill."""
    causes_ns = dict.fromkeys(Cause, 0)
    for span in spans:
        causes_ns[span.cause] += span.end_ns - span.start_ns
    return tell(causes_ns, spans, (call, after), recorded)


def stretch(
    cause: Cause, ms: int, doing: str | None = None, in_doing: int | None = None, tid: int | None = 7
) -> GapSpan:
    return GapSpan(0, ms * MS, cause, tid, doing, 0 if doing is None else (in_doing or ms) * MS)


@pytest.mark.parametrize(
    ("cause", "doing", "sentence"),
    [
        (Cause.PROFILER_OVERHEAD, "cudaEventRecord", "The profiler held up thread 7 in cudaEventRecord for 4.000 ms"),
        (Cause.DATA_LOADING, "next(loader)", "Thread 7 loaded data in next(loader) for 4.000 ms"),
        (Cause.CHECKPOINT, None, "Thread 7 saved a checkpoint for 4.000 ms"),
        (Cause.GARBAGE_COLLECTION, None, "Thread 7 collected garbage for 4.000 ms"),
        (Cause.HOST_COMMUNICATION, "MPI_Recv", "Thread 7 communicated with other processes in MPI_Recv for 4.000 ms"),
        (
            Cause.HOST_SYNC,
            "cudaStreamSynchronize_v3020",
            "Thread 7 synchronised with the GPU in cudaStreamSynchronize for 4.000 ms",
        ),
        (Cause.BLOCKING_COPY, "cudaMemcpy_v3020", "Thread 7 was held up by a copy in cudaMemcpy for 4.000 ms"),
        (Cause.ALLOCATOR, "cudaMalloc_v3020", "Thread 7 allocated or freed memory in cudaMalloc for 4.000 ms"),
        (Cause.MODULE_LOADING, "cuModuleLoadData", "Thread 7 loaded code in cuModuleLoadData for 4.000 ms"),
        (Cause.GRAPH_BUILD, None, "Thread 7 built CUDA graphs for 4.000 ms"),
        (Cause.SLOW_LAUNCH, "cudaLaunchKernel_v7000", "Thread 7 was held up in cudaLaunchKernel for 4.000 ms"),
        (Cause.OS_BLOCKED, "write", "The operating system held up thread 7 in write for 4.000 ms"),
        (Cause.LAUNCH_STARVED, "aten::mul, seq = 4, op_id = 5", "Thread 7 launched nothing in aten::mul for 4.000 ms"),
        (Cause.LAUNCH_STARVED, None, "Thread 7 launched nothing for 4.000 ms (why is not recorded)"),
        (Cause.LAUNCH_LATENCY, "cudaLaunchKernel_v7000", "The launch itself took 4.000 ms"),
        (Cause.HANDOVER, None, "Work already launched took 4.000 ms to begin"),
        (Cause.DEVICE_WAIT, "cudaStreamSynchronize", "Work already launched did not begin for 4.000 ms"),
        (Cause.UNIFIED_MEMORY, None, "The driver moved unified memory for 4.000 ms"),
        (Cause.UNKNOWN, None, "No recorded call explains 4.000 ms"),
    ],
)
def test_what_the_gpu_waited_for(cause: Cause, doing: str | None, sentence: str) -> None:
    assert told(stretch(cause, 4, doing)) == f"{sentence}; then cudaLaunchKernel started k."


def test_every_cause_has_its_words() -> None:
    for cause in Cause:
        assert told(stretch(cause, 1)).endswith("; then cudaLaunchKernel started k.")


@pytest.mark.parametrize(
    ("recorded", "sentence"),
    [
        (EVERYTHING, "Thread 7 ran but launched nothing for 4.000 ms"),
        (Recorded(scheduling=False, os_calls=True), "Thread 7 launched nothing for 4.000 ms"),
    ],
)
def test_what_is_recorded_of_a_thread_that_launches_nothing(recorded: Recorded, sentence: str) -> None:
    assert told(stretch(Cause.LAUNCH_STARVED, 4), recorded=recorded) == f"{sentence}; then cudaLaunchKernel started k."


def test_a_second_cause_is_told_from_a_fifth_of_the_gap_on() -> None:
    loaded, starved = stretch(Cause.DATA_LOADING, 8, "load"), stretch(Cause.LAUNCH_STARVED, 2)

    assert told(loaded, starved).startswith(
        "Thread 7 loaded data in load for 8.000 ms and launched nothing for 2.000 ms;"
    )
    assert told(loaded, stretch(Cause.LAUNCH_STARVED, 1)).startswith("Thread 7 loaded data in load for 8.000 ms;")


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (
            stretch(Cause.PROFILER_OVERHEAD, 6),
            stretch(Cause.SLOW_LAUNCH, 4),
            "The profiler held up thread 7 for 6.000 ms and it was held up for 4.000 ms",
        ),
        (
            stretch(Cause.DATA_LOADING, 6),
            stretch(Cause.OS_BLOCKED, 4),
            "Thread 7 loaded data for 6.000 ms and the operating system held it up for 4.000 ms",
        ),
        (
            stretch(Cause.DATA_LOADING, 6),
            stretch(Cause.GARBAGE_COLLECTION, 4, tid=9),
            "Thread 7 loaded data for 6.000 ms and thread 9 collected garbage for 4.000 ms",
        ),
        (
            stretch(Cause.HANDOVER, 6),
            stretch(Cause.ALLOCATOR, 4),
            "Work already launched took 6.000 ms to begin and thread 7 allocated or freed memory for 4.000 ms",
        ),
    ],
)
def test_a_thread_is_named_once(first: GapSpan, second: GapSpan, sentence: str) -> None:
    assert told(first, second) == f"{sentence}; then cudaLaunchKernel started k."


def test_calls_of_one_name_count_together_and_a_small_part_is_not_worth_a_word() -> None:
    reads = [
        stretch(Cause.OS_BLOCKED, 3, "read"),
        stretch(Cause.OS_BLOCKED, 4, "poll"),
        stretch(Cause.OS_BLOCKED, 3, "read"),
    ]
    assert told(*reads).startswith("The operating system held up thread 7 for 10.000 ms, 6.000 ms of it in read;")

    loads = [stretch(Cause.MODULE_LOADING, 10), stretch(Cause.MODULE_LOADING, 2, "cuLinkCreate")]
    assert told(*loads).startswith("Thread 7 loaded code for 12.000 ms;")


@pytest.mark.parametrize(
    ("call", "after", "ending"),
    [
        (
            LAUNCH,
            "void at::native::<unnamed>::layer_norm<float, 4>(int)",
            "then cudaLaunchKernel started at::native::layer_norm.",
        ),
        (GapCall("cudaMemcpyAsync_v3020", 0, 1, 7), "[memory copy]", "then cudaMemcpyAsync started a copy."),
        (None, "[memset]", "then a memset ran."),
        (None, None, "nothing ran after it."),
    ],
)
def test_how_it_ended(call: GapCall | None, after: str | None, ending: str) -> None:
    assert told(stretch(Cause.UNKNOWN, 4), call=call, after=after) == f"No recorded call explains 4.000 ms; {ending}"
