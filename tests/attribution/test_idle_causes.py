"""Each rule on idle time with a trace that it applies to, and decoys at which it must stay silent.

The GPU works until 100 us and again from 1,101 us on unless a test says otherwise: a gap of 1,001 us. The call that
ends it begins at 1,090 us and returns at 1,100.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.idle.range_causes import cause_of_range
from nsysan.attribution.job import build_job
from nsysan.attribution.window import WindowChoice
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.idle import Cause
from nsysan.synth.export import Export
from tests.attribution.idle_traces import CALL_AND_HANDOVER, LAUNCH, OTHER_TID, US, Trace, causes, ended, starved

if TYPE_CHECKING:
    from pathlib import Path


def test_a_thread_that_does_nothing_known_starves_the_gpu(tmp_path: Path) -> None:
    assert causes(tmp_path, ended(Trace())) == starved(990)


# --- after the call


def test_work_whose_call_had_returned_is_handed_over_in_20_us(tmp_path: Path) -> None:
    assert causes(tmp_path, Trace().launch(20, 25, runs=(110, 120))) == {"handover": 10}
    assert causes(tmp_path, Trace().launch(20, 25, runs=(150, 160))) == {"handover": 20, "device_wait": 30}


def test_work_whose_call_returned_in_the_gap_starts_with_latency(tmp_path: Path) -> None:
    trace = Trace().launch(90, 110, runs=(150, 160))

    # 100 to 110 inside the call, 20 after it
    assert causes(tmp_path, trace) == {"launch_latency": 30, "device_wait": 20}


def test_a_long_first_launch_whose_work_starts_late_loads_its_code(tmp_path: Path) -> None:
    trace = Trace().launch(90, 210, runs=(250, 260), function="new")

    assert causes(tmp_path, trace) == {"module_loading": 110 + 20, "launch_latency": 20}


def test_a_short_first_launch_has_loaded_nothing(tmp_path: Path) -> None:
    trace = Trace().launch(90, 110, runs=(150, 160), function="new")

    assert causes(tmp_path, trace) == {"launch_latency": 30, "device_wait": 20}


def test_a_device_waits_for_the_long_load_of_any_thread(tmp_path: Path) -> None:
    late = Trace().launch(20, 25, runs=(400, 410))

    assert causes(tmp_path, late.calls(150, 300, "cuModuleLoadData", OTHER_TID)) == {
        "handover": 20,
        "module_loading": 150,
        "device_wait": 130,
    }


# --- inside the call


@pytest.mark.parametrize(
    ("name", "length", "cause"),
    [
        (LAUNCH, 100, "launch_latency"),
        (LAUNCH, 101, "slow_launch"),
        ("cudaGraphLaunch_v10000", 500, "launch_latency"),
        ("cuLaunchKernelEx", 150, "slow_launch"),
    ],
)
def test_what_a_launch_call_is(tmp_path: Path, name: str, length: int, cause: str) -> None:
    trace = Trace().launch(100, 100 + length, runs=(100 + length, 1_200), name=name)

    assert causes(tmp_path, trace) == {cause: length}


def test_a_long_first_launch_loads_its_function(tmp_path: Path) -> None:
    trace = Trace().launch(100, 300, runs=(300, 400), function="new").launch(400, 600, runs=(600, 700), function="new")

    assert causes(tmp_path, trace) == {"module_loading": 200, "slow_launch": 200}


@pytest.mark.parametrize(
    ("name", "length", "cause"),
    [
        ("cudaMemcpy_v3020", 30, "blocking_copy"),
        ("cudaMemcpyAsync_v3020", 100, "launch_latency"),
        ("cudaMemcpyAsync_v3020", 101, "blocking_copy"),  # staging through pageable memory blocks the thread
        ("cuMemcpyHtoD_v2", 30, "blocking_copy"),
        ("cuMemcpyHtoDAsync_v2", 30, "launch_latency"),
    ],
)
def test_what_a_copy_call_is(tmp_path: Path, name: str, length: int, cause: str) -> None:
    trace = Trace().load(100, 100 + length, runs=(100 + length, 1_200), name=name)

    assert causes(tmp_path, trace) == {cause: length}


def test_profiler_rows_inside_the_call_are_the_profilers(tmp_path: Path) -> None:
    trace = Trace().launch(100, 300, runs=(300, 400))
    trace.overhead(120 * US, 200 * US, "CUPTI Buffer flush")

    assert causes(tmp_path, trace) == {"profiler_overhead": 80, "slow_launch": 120}


# --- no call


def test_without_a_call_the_cause_is_unknown_unless_the_driver_moves_memory(tmp_path: Path) -> None:
    trace = Trace()
    trace.kernel(150 * US, 160 * US, "orphan", correlation=77)
    trace.copy(200 * US, 210 * US, 64, kind=11, correlation=0)

    assert causes(tmp_path, trace) == {"unknown": 50, "unified_memory": 40}


def test_a_gap_at_the_windows_end_looks_beyond_it(tmp_path: Path) -> None:
    until_500 = WindowChoice(0, 500 * US)

    assert causes(tmp_path, ended(Trace()), until_500) == {"launch_latency": 5 + 5, "launch_starved": 400}
    assert causes(tmp_path, Trace(), until_500) == {"launch_latency": 10, "unknown": 400}


def test_a_call_later_than_its_work_counts_as_begun_with_it(tmp_path: Path) -> None:
    assert causes(tmp_path, Trace().launch(160, 170, runs=(150, 200))) == {"launch_starved": 50}


def test_of_several_rows_of_one_call_the_lowest_class_counts(tmp_path: Path) -> None:
    trace = Trace()
    trace.call(140 * US, 145 * US, "cuLaunchKernel", correlation=9, event_class=1)
    trace.call(110 * US, 150 * US, LAUNCH, correlation=9)
    trace.kernel(150 * US, 160 * US, "work", correlation=9)

    assert causes(tmp_path, trace) == {"launch_starved": 10, "launch_latency": 40}


def test_calls_of_another_process_with_the_same_correlation_id_are_not_taken(tmp_path: Path) -> None:
    # C03, T1
    trace = ended(Trace())
    trace.call(200 * US, 900 * US, "cudaDeviceSynchronize_v3020", pid=300, correlation=2)

    assert causes(tmp_path, trace) == starved(990)


# --- before the call: the profiler


def test_overhead_of_the_thread_is_the_profilers_and_of_another_is_not(tmp_path: Path) -> None:
    own, other = ended(Trace()), ended(Trace())
    own.overhead(300 * US, 500 * US, "CUPTI Buffer flush")
    other.overhead(300 * US, 500 * US, "CUPTI Buffer flush", tid=OTHER_TID)

    assert causes(tmp_path, own) == {"profiler_overhead": 200, **starved(790)}
    assert causes(tmp_path, other) == starved(990)


@pytest.mark.parametrize("overhead_type", [2, 6, 7])
def test_code_that_the_driver_loads_is_no_overhead_of_the_profiler(tmp_path: Path, overhead_type: int) -> None:
    trace = ended(Trace())
    trace.overhead(300 * US, 500 * US, "any name", overhead_type=overhead_type)

    assert causes(tmp_path, trace) == {"module_loading": 200, **starved(790)}


def test_an_older_export_tells_overheads_by_name(tmp_path: Path) -> None:
    trace = ended(Trace("3.7"))
    trace.overhead(300 * US, 500 * US, "CUDA profiling data flush overhead")
    trace.overhead(600 * US, 700 * US, "Lazy Function Loading")

    assert causes(tmp_path, trace) == {"profiler_overhead": 200, "module_loading": 100, **starved(690)}


def test_a_flush_of_the_profiler_holds_long_calls_of_every_thread(tmp_path: Path) -> None:
    def flushed(trace: Trace) -> dict[str, int]:
        ended(trace).overhead(300 * US, 500 * US, "CUPTI Buffer flush", tid=OTHER_TID)
        return causes(tmp_path, trace)

    long_call = Trace().calls(250, 550, "cudaEventRecord_v3020")
    short_call = Trace().calls(350, 440, "cudaEventRecord_v3020")
    waiting = Trace().calls(250, 550, "cudaStreamSynchronize_v3020")

    assert flushed(long_call) == {"profiler_overhead": 200, **starved(790)}
    assert flushed(short_call) == starved(990)
    # it waits for the GPU, whatever the profiler does; 540 us from its end to the launch are its restart
    assert flushed(waiting) == {"host_sync": 300, **starved(690)}


# --- before the call: ranges


def test_a_loaders_range_on_the_launching_thread_is_data_loading(tmp_path: Path) -> None:
    loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

    assert causes(tmp_path, ended(Trace().range(200, 900, loader))) == {"data_loading": 700, **starved(290)}
    # a worker's range says nothing about the thread that launches
    assert causes(tmp_path, ended(Trace().range(200, 900, loader, tid=OTHER_TID))) == starved(990)
    # hidden behind compute
    assert causes(tmp_path, ended(Trace().range(20, 100, loader))) == starved(990)


def test_a_range_inside_a_loaders_range_is_still_data_loading(tmp_path: Path) -> None:
    trace = ended(Trace().range(200, 900, "load_batch").range(300, 800, "decode"))

    assert causes(tmp_path, trace) == {"data_loading": 700, **starved(290)}


def test_a_loaders_range_comes_before_the_calls_in_it(tmp_path: Path) -> None:
    trace = ended(Trace().range(200, 900, "load_batch").calls(300, 400, "cudaHostAlloc_v3020"))

    assert causes(tmp_path, trace) == {"data_loading": 700, **starved(290)}


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("save_checkpoint", "checkpoint"),
        ("gc.collect", "garbage_collection"),
        ("MPI_Recv", "host_communication"),
        ("triton jit", "module_loading"),
    ],
)
def test_what_a_range_of_the_thread_names_and_that_of_another_does_not(tmp_path: Path, name: str, cause: str) -> None:
    assert causes(tmp_path, ended(Trace().range(200, 900, name))) == {cause: 700, **starved(290)}
    assert causes(tmp_path, ended(Trace().range(200, 900, name, tid=OTHER_TID))) == starved(990)
    assert causes(tmp_path, ended(Trace().range(20, 100, name))) == starved(990)


def test_a_range_that_holds_most_launches_is_where_the_thread_works(tmp_path: Path) -> None:
    # activation checkpointing: the range wraps the layers themselves
    working = ended(Trace().range(0, 2_000, "checkpoint layer 1"))
    saving = ended(Trace().range(200, 900, "save checkpoint 7"))

    assert causes(tmp_path, working) == starved(990)
    assert causes(tmp_path, saving) == {"checkpoint": 700, **starved(290)}


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", Cause.DATA_LOADING),
        ("[pl][profile][_TrainingEpochLoop].train_dataloader_next", Cause.DATA_LOADING),
        ("get_batch", Cause.DATA_LOADING),
        ("tokenize", Cause.DATA_LOADING),
        ("save_checkpoint", Cause.CHECKPOINT),
        ("ckpt:write", Cause.CHECKPOINT),
        ("gc.collect", Cause.GARBAGE_COLLECTION),
        ("Python GC", Cause.GARBAGE_COLLECTION),
        ("gloo:all_reduce", Cause.HOST_COMMUNICATION),
        ("MPI_Send", Cause.HOST_COMMUNICATION),
        ("broadcast_object_list", Cause.HOST_COMMUNICATION),
        ("compile_fx", Cause.MODULE_LOADING),
        ("triton jit", Cause.MODULE_LOADING),
        ("FSDP::pre_forward (blocks.3._checkpoint_wrapped_module)", None),
        ("CheckpointFunctionBackward", None),
        ("ncclAllReduce", None),
        ("CompiledFunctionBackward", None),
        ("XlaModule:#hlo_module=jit_train_step#", None),
        ("aten::mm, seq = 1, op_id = 2", None),
        ("forward", None),
        ("AMGCL", None),
    ],
)
def test_what_the_name_of_a_range_says(name: str, cause: Cause | None) -> None:
    assert cause_of_range(name) is cause


# --- before the call: calls


@pytest.mark.parametrize(
    ("name", "length", "cause"),
    [
        ("cudaStreamSynchronize_v3020", 50, "host_sync"),
        ("cuCtxSynchronize", 50, "host_sync"),
        ("cudaEventQuery_v3020", 50, "host_sync"),
        ("cudaMalloc_v3020", 50, "allocator"),
        ("cuMemAlloc_v2", 50, "allocator"),
        ("cudaFree_v3020", 150, "allocator"),
        ("cudaHostAlloc_v3020", 50, "allocator"),
        ("cudaGraphInstantiate_v12000", 50, "graph_build"),
        ("cudaStreamEndCapture_v10000", 50, "graph_build"),
        ("cudaGraphicsMapResources", 50, "launch_starved"),
        ("cudaStreamIsCapturing_v10000", 50, "launch_starved"),
        ("cuLibraryGetKernel", 50, "launch_starved"),
        ("cuLibraryGetKernel", 101, "module_loading"),
    ],
)
def test_what_a_call_of_the_thread_is(tmp_path: Path, name: str, length: int, cause: str) -> None:
    # so far from the launch that a synchronisation is no restart
    trace = Trace().calls(400, 400 + length, name).launch(3_090, 3_100, runs=(3_101, 3_200))

    expected = {"launch_starved": 2_990 - length, **CALL_AND_HANDOVER}
    assert causes(tmp_path, trace) == {**expected, cause: length + (2_990 - length if cause == "launch_starved" else 0)}


def test_an_allocation_that_waits_for_a_lock_is_the_allocators(tmp_path: Path) -> None:
    trace = ended(Trace().calls(300, 700, "cudaMalloc_v3020").in_os(310, 690, "pthread_mutex_lock"))

    assert causes(tmp_path, trace) == {"allocator": 400, **starved(590)}


def test_a_lock_outside_an_allocation_is_not_the_allocators(tmp_path: Path) -> None:
    trace = Trace().calls(300, 310, "cudaMalloc_v3020").in_os(320, 700, "pthread_mutex_lock")

    assert causes(tmp_path, ended(trace)) == {"allocator": 10, "os_blocked": 380, **starved(600)}


def test_an_allocation_while_the_gpu_works_costs_nothing(tmp_path: Path) -> None:
    assert causes(tmp_path, ended(Trace().calls(20, 99, "cudaMalloc_v3020"))) == starved(990)
    assert causes(tmp_path, ended(Trace().calls(300, 700, "cudaMalloc_v3020", OTHER_TID))) == starved(990)


def test_freeing_beside_the_start_of_a_library_is_loading(tmp_path: Path) -> None:
    trace = Trace().calls(150, 160, "cuGetProcAddress_v2").calls(300, 500, "cudaFree_v3020")

    # up to the load of the entry point it is all on the way to that
    assert causes(tmp_path, ended(trace)) == {"module_loading": 60 + 200, **starved(730)}


def test_what_leads_to_a_load_of_code_is_loading(tmp_path: Path) -> None:
    assert causes(tmp_path, ended(Trace().calls(400, 500, "cuModuleLoadData"))) == {
        "module_loading": 400,
        **starved(590),
    }
    # another thread's load counts only where the function runs for the first time
    other = Trace().calls(400, 500, "cuModuleLoadData", OTHER_TID)
    assert causes(tmp_path, ended(other)) == starved(990)
    new = Trace().calls(400, 500, "cuModuleLoadData", OTHER_TID)
    assert causes(tmp_path, new.launch(1_090, 1_100, runs=(1_101, 1_200), function="new")) == {
        "module_loading": 400,
        **starved(590),
    }


# --- before the call: synchronisation


# --- whose time it is


def test_the_previous_thread_has_the_gap_until_the_calling_thread_shows_itself(tmp_path: Path) -> None:
    trace = Trace().range(150, 300, "load_batch").range(700, 1_000, "gc", tid=OTHER_TID)
    trace.launch(1_090, 1_100, runs=(1_101, 1_200), tid=OTHER_TID)

    # the first thread loads until 300; from 700 on, its push, the second thread collects garbage
    assert causes(tmp_path, trace) == {"data_loading": 150, "garbage_collection": 300, **starved(540)}


# --- several processes and reports on one GPU


def test_the_gaps_of_a_shared_gpu_are_explained_by_whoever_ends_them(tmp_path: Path) -> None:
    # process 200 loads while both idle; as process 100 saw it the GPU idles for 1,001 us, in truth for 400 and 401
    trace = ended(Trace())
    trace.gpu(uuid="u0").cuda_device(uuid="u0").cuda_device(pid=200, uuid="u0")
    trace.call(490 * US, 495 * US, LAUNCH, pid=200, correlation=1).nvtx(200 * US, 400 * US, "load_batch", pid=200)
    trace.kernel(500 * US, 700 * US, "work", pid=200, correlation=1)

    job = build_job([read_trace(trace.write(tmp_path / "rank0.sqlite"), ReadOptions())])

    idle = job.idle.of_gpu(job.gpus[0])
    assert idle is not None
    found = idle.causes()
    # until 200, its push, the time is of the thread before; then the range, then starving until the call at 490
    assert (found.data_loading_ns, found.launch_latency_ns) == (200 * US, (10 + 11) * US)
    assert found.launch_starved_ns == (100 + 90 + 390) * US
    assert found.idle_ns == (400 + 401) * US


def test_reports_of_one_gpu_are_put_on_one_clock(tmp_path: Path) -> None:
    # the second session began 1 ms later, so its clock shows 1 ms less; it computes from 300 to 400 us of the first
    first = ended(Trace())
    second = Export()
    second.call(-710 * US, -701 * US, LAUNCH, correlation=1).call(290 * US, 299 * US, LAUNCH, correlation=2)
    second.kernel(0, 1, "idle start", correlation=1).kernel(300 * US, 400 * US, "work", correlation=2)
    second.nvtx(150 * US, 250 * US, "load_batch")
    for export, start_ns in ((first, 10**18), (second, 10**18 + 1_000 * US)):
        export.host("node").session(utc_epoch_ns=start_ns, duration_ns=5_000 * US)
        export.gpu(uuid="u0").cuda_device(uuid="u0")

    paths = [export.write(tmp_path / f"rank{rank}.sqlite") for rank, export in enumerate((first, second))]
    job = build_job([read_trace(path, ReadOptions()) for path in paths])

    (gpu,) = job.gpus
    idle = job.idle.of_gpu(gpu)
    assert idle is not None
    assert idle.causes().idle_ns == gpu.occupancy.part_times().idle_ns
    # 1,200 to 1,300 us on the first clock is 200 to 300 on the second: its range holds there until 250
    assert idle.causes().data_loading_ns == 50 * US
    # and the pieces lie on the GPU's clock
    pieces = idle.pieces.take(idle.pieces.cause == code_of(Cause.DATA_LOADING))
    assert (pieces.start_ns.tolist(), pieces.end_ns.tolist()) == ([1_200 * US], [1_250 * US])
