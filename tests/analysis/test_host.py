"""The host: calls by function, launching threads, sampled functions, and contexts of other processes on the GPU."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.analysis.gpu_contexts import GpuContext
from nsysan.analysis.host import HostReport, compute_host
from nsysan.analysis.launching_threads import LaunchingThread, SampledFunction
from nsysan.analysis.named_calls import CallsOfName
from nsysan.attribution.job import build_job
from nsysan.attribution.window import WindowChoice
from nsysan.cli.main import main
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.host_events import SwitchTag
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export

LAUNCH = "cudaLaunchKernel_v7000"
BEGIN, END = SwitchTag.RESTORE_START, SwitchTag.SAVE_END
SCHEMAS = pytest.mark.parametrize("schema", ["3.7", "3.25"])


def host_of(path: Path) -> HostReport:
    result = compute_host(build_job([read_trace(path, ReadOptions())]), ResultSet({}))
    assert not isinstance(result, Skipped), result
    return result.host


def launched(schema: str = "3.25") -> Export:
    """Work from 100 to 1,100 ns, launched by two calls of thread 100."""
    export = Export(schema).gpu(uuid="0-1")
    if schema == "3.25":
        export.cuda_device(uuid="0-1")
    export.call(80, 90, LAUNCH, correlation=1).kernel(100, 600, "a", correlation=1)
    return export.call(500, 520, LAUNCH, correlation=2).kernel(700, 1_100, "b", correlation=2)


def test_calls_by_function_are_cut_to_the_window_and_told_by_thread(tmp_path: Path) -> None:
    export = launched().call(1_050, 1_200, "cudaDeviceSynchronize_v3020").call(200, 240, "cudaDeviceSynchronize", tid=7)
    export.os_call(300, 340, "poll").os_call(0, 2_000, "futex", tid=8).os_call(20, 60, "read")

    host = host_of(export.write(tmp_path / "r.sqlite"))

    assert host.cuda_calls == (
        CallsOfName("cudaDeviceSynchronize", 2, 90, 50, 95.0, 150),
        CallsOfName("cudaLaunchKernel", 1, 20, 20, 20.0, 20),
    )
    assert host.os_calls == (
        CallsOfName("poll", 1, 40, 40, 40.0, 40),
        CallsOfName("futex", 1, 1_000, 0, 2_000.0, 2_000),
    )


def test_a_call_that_an_export_holds_twice_counts_once(tmp_path: Path) -> None:
    export = launched()
    for number, start in ((7, 200), (8, 300)):
        export.call(start, start + 20, "cudaMalloc_v3020", correlation=number)
        export.call(start, start + 30, "cudaMalloc", correlation=number)
    # another function inside is another call, and what has no id is one each
    export.call(305, 315, "cuMemAlloc_v2", correlation=8)
    export.call(400, 410, "cudaMalloc", correlation=0).call(420, 430, "cudaMalloc_v3020", correlation=0)

    host = host_of(export.write(tmp_path / "r.sqlite"))

    assert {calls.name: (calls.count, calls.total_ns) for calls in host.cuda_calls} == {
        "cudaMalloc": (4, 80),
        "cudaLaunchKernel": (1, 20),
        "cuMemAlloc": (1, 10),
    }


TWICE = Path(__file__).parents[3] / "shared" / "traces" / "saxpy-mpi-A100-2022.2.sqlite"


@pytest.mark.skipif(not TWICE.exists(), reason="the shared real exports are not beside this checkout")
def test_a_real_export_that_holds_calls_twice() -> None:
    trace = read_trace(TWICE, ReadOptions())

    host = compute_host(build_job([trace], WindowChoice(0, trace.capture_ns)), ResultSet({}))

    with closing(sqlite3.connect(f"{TWICE.as_uri()}?immutable=1", uri=True)) as connection:
        expected = connection.execute(
            "SELECT count(*), sum(ns) FROM (SELECT max(end - start) AS ns FROM CUPTI_ACTIVITY_KIND_RUNTIME"
            " JOIN StringIds ON nameId = id WHERE value LIKE 'cudaMemcpy%' GROUP BY globalTid, correlationId)"
        ).fetchone()
    assert not isinstance(host, Skipped)
    (copies,) = (calls for calls in host.host.cuda_calls if calls.name == "cudaMemcpy")
    assert (copies.count, copies.total_ns) == expected


def test_threads_that_launch(tmp_path: Path) -> None:
    export = (
        launched().call(150, 190, "cudaStreamSynchronize").os_call(160, 180, "poll").os_call(300, 900, "poll", tid=7)
    )
    for time_ns, is_in in ((10, True), (161, False), (179, True), (1_090, False), (1_200, True)):
        export.switch(time_ns, is_in=is_in)
    export.cpu_sample(200, ["forward", "main"]).cpu_sample(300, ["forward"], state=0).cpu_sample(5_000, ["forward"])

    (thread,) = host_of(export.write(tmp_path / "r.sqlite")).threads

    # one of the two launches lies in the window of 1,000 ns: a million a second
    assert thread == LaunchingThread(0, 100, 100, 1, 1_000_000.0, 60, 20, 18 + 10, 2, 1)


def test_sampled_functions_are_of_launching_threads(tmp_path: Path) -> None:
    export = launched().cpu_sample(200, ["forward", "main"]).cpu_sample(300, ["forward"]).cpu_sample(400, ["backward"])
    export.cpu_sample(500, []).cpu_sample(250, ["poll"], tid=7).cpu_sample(260, ["stack of an event"], state=0)

    host = host_of(export.write(tmp_path / "r.sqlite"))

    assert host.functions == (
        SampledFunction("forward", 2, 0.5),
        SampledFunction("[no function]", 1, 0.25),
        SampledFunction("backward", 1, 0.25),
    )
    assert "functions" not in host.unknown


def test_samples_without_stacks_name_no_function(tmp_path: Path) -> None:
    host = host_of(launched().cpu_sample(200, []).write(tmp_path / "r.sqlite"))

    assert host.functions == ()
    assert host.unknown["functions"] == "could not look: threads were sampled, but the export holds no stacks"


@SCHEMAS
def test_another_process_on_the_gpu(schema: str, tmp_path: Path) -> None:
    export = launched(schema)
    # its own context from before the window to 550, then from 650 on; another process' in between
    export.gpu_switch(550, END).gpu_switch(560, BEGIN, pid=900, context=9).gpu_switch(640, END, pid=900, context=9)
    export.gpu_switch(650, BEGIN)

    host = host_of(export.write(tmp_path / "r.sqlite"))

    # the recorded work idles from 600 to 700
    assert host.gpu_contexts == (
        GpuContext(0, 0, "gpu0", 100, is_recorded=True, turn_count=2, resident_ns=900, in_idle_ns=50),
        GpuContext(0, 0, "gpu0", 900, is_recorded=False, turn_count=1, resident_ns=80, in_idle_ns=40),
    )


def test_whose_contexts_a_container_sees_is_unknown(tmp_path: Path) -> None:
    export = launched().gpu_switch(150, BEGIN, pid=4_000).gpu_switch(250, END, pid=4_000)

    (context,) = host_of(export.write(tmp_path / "r.sqlite")).gpu_contexts

    assert (context.is_recorded, context.resident_ns) == (None, 100)


def test_the_service_that_shares_a_context_is_noticed(tmp_path: Path) -> None:
    export = launched().sql("INSERT INTO PROCESSES VALUES (7, 7, '/usr/bin/nvidia-cuda-mps-server')")

    assert host_of(export.write(tmp_path / "r.sqlite")).runs_mps is True


@pytest.mark.parametrize("empty", [False, True])
def test_what_was_not_recorded_could_not_be_looked_at(empty: bool, tmp_path: Path) -> None:  # noqa: FBT001 -- parameter
    export = launched()
    if empty:  # as an export of every table has them
        export.sql('CREATE TABLE OSRT_API (start INTEGER, "end" INTEGER, globalTid INTEGER, nameId INTEGER)')
        export.sql("CREATE TABLE SCHED_EVENTS (start INTEGER, isSchedIn INTEGER, globalTid INTEGER)")

    host = host_of(export.write(tmp_path / "r.sqlite"))

    (thread,) = host.threads
    assert (thread.os_ns, thread.off_core_ns, thread.left_core_count, thread.sample_count) == (None, None, None, None)
    assert host.unknown == {
        "os_calls": "could not look: the trace holds no calls of the operating system. Record with -t osrt.",
        "off_core": "could not look: the trace holds no scheduling of threads. Record with --cpuctxsw=process-tree.",
        "functions": "could not look: the trace holds no samples of threads. Record with --sample=process-tree.",
        "gpu_contexts": "could not look: the trace holds no context switches of GPUs. Record with --gpuctxsw=true.",
    }


def test_without_calls_it_is_skipped(tmp_path: Path) -> None:
    path = Export().kernel(0, 10, "k").write(tmp_path / "r.sqlite")

    result = compute_host(build_job([read_trace(path, ReadOptions())]), ResultSet({}))

    assert result == Skipped("host", "the trace holds no CUDA calls", "Record with -t cuda,nvtx.")


def test_waits_in_the_operating_system_are_what_was_planted(tmp_path: Path) -> None:
    arguments = ["synth", "data-bound", "--ranks", "1", "--steps", "4", "--trace", "cuda,nvtx,osrt,sched"]
    assert main([*arguments, "-o", str(tmp_path)]) == 0
    (rank,) = json.loads((tmp_path / "data-bound.truth.json").read_text())["ranks"]
    planted = rank["system"]["host"]
    trace = read_trace(tmp_path / "data-bound.sqlite", ReadOptions())

    host = compute_host(build_job([trace], WindowChoice(0, trace.capture_ns)), ResultSet({}))

    assert not isinstance(host, Skipped)
    assert sum(calls.total_ns for calls in host.host.os_calls) == planted["os_call_ns"]
    assert sum(calls.count for calls in host.host.os_calls) == planted["os_call_count"]
    assert sum(thread.off_core_ns or 0 for thread in host.host.threads) == planted["off_cpu_ns"]


REAL = Path(__file__).parents[3] / "shared" / "traces" / "cloverleaf-A100-2024.5.sqlite"


@pytest.mark.skipif(not REAL.exists(), reason="the shared real exports are not beside this checkout")
def test_sums_of_a_whole_capture_are_those_of_nvidias_tool() -> None:
    trace = read_trace(REAL, ReadOptions())

    host = compute_host(build_job([trace], WindowChoice(0, trace.capture_ns)), ResultSet({}))

    # nsys stats -r cuda_api_sum,osrt_sum of nsys 2023.4.4: name, calls, total, median, longest
    assert not isinstance(host, Skipped)
    found = {
        calls.name: (calls.count, calls.total_ns, calls.median_ns, calls.longest_ns)
        for calls in (*host.host.cuda_calls, *host.host.os_calls)
    }
    assert {
        name: found[name] for name in ("cudaDeviceSynchronize", "cudaMalloc", "cudaLaunchKernel", "poll", "ioctl")
    } == {
        "cudaDeviceSynchronize": (1_312, 301_652_956, 8_867.0, 1_951_451),
        "cudaMalloc": (76, 240_457_583, 7_600.0, 234_336_601),
        "cudaLaunchKernel": (1_312, 5_473_753, 3_687.0, 34_255),
        "poll": (18, 500_924_932, 12_597_330.0, 100_154_444),
        "ioctl": (1_253, 281_949_575, 17_484.0, 32_866_777),
    }
