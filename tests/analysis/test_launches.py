"""Launches and synchronisation: pairs of call and work, how far the host was ahead, and waits that cost something."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.analysis.launches import LaunchesOfDevice, compute_launches
from nsysan.analysis.synchronization import SynchronizationOfDevice, SynchronizationSource, compute_synchronization
from nsysan.attribution.job import Job, build_job
from nsysan.attribution.launch import NO_CALL, join_launches
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export

LAUNCH = "cudaLaunchKernel_v7000"


def job_of(folder: Path, export: Export) -> Job:
    return build_job([read_trace(export.write(folder / "rank0.sqlite"), ReadOptions())])


def launches(folder: Path, export: Export) -> tuple[LaunchesOfDevice, ...]:
    result = compute_launches(job_of(folder, export), ResultSet({}))
    assert not isinstance(result, Skipped)
    return result.launches


def test_latency_delay_and_depth_of_calls_in_a_row(tmp_path: Path) -> None:
    export = Export()
    for place, (call_ns, return_ns, start_ns, end_ns) in enumerate(
        [(0, 4, 10, 100), (20, 24, 100, 200), (30, 34, 200, 300), (400, 404, 403, 500)], start=1
    ):
        export.call(call_ns, return_ns, LAUNCH, correlation=place).kernel(start_ns, end_ns, "k", correlation=place)

    # latencies 10, 80, 170, 3: median 45; delays 6, 76, 166, and none where the work began inside its call: median 76
    # unfinished at each call: 0, 1, 2, 0
    assert launches(tmp_path, export) == (LaunchesOfDevice("r0/p100/d0", 4, 4, 16, 45.0, 76.0, 0.5, 0.5, 0, 0, 0),)


def test_one_graph_launch_costs_the_host_once(tmp_path: Path) -> None:
    # C53: launches 1, kernels 200, overhead 20
    export = Export().call(0, 20, "cudaGraphLaunch_v10000", correlation=9)
    for start_ns in range(100, 300):
        export.kernel(start_ns, start_ns + 1, "k", correlation=9)

    (found,) = launches(tmp_path, export)

    assert (found.call_count, found.activity_count, found.call_ns, found.queue_depth) == (1, 200, 20, 0.0)


def test_ids_repeat_over_processes(tmp_path: Path) -> None:
    # C03, T1, T20: two pairs, not four, and each device has its own
    export = Export()
    for pid in (100, 200):
        export.call(pid, pid + 3, LAUNCH, pid=pid, correlation=5).kernel(
            pid + 10, pid + 20, "k", pid=pid, correlation=5
        )

    assert [(found.device, found.call_count, found.launch_latency_ns) for found in launches(tmp_path, export)] == [
        ("r0/p100/d0", 1, 10.0),
        ("r0/p200/d0", 1, 10.0),
    ]


def test_what_does_not_pair_is_counted(tmp_path: Path) -> None:
    export = Export().call(0, 4, LAUNCH, correlation=1).call(1, 3, "cuLaunchKernel", correlation=1, event_class=1)
    export.kernel(10, 20, "k", correlation=1)
    export.call(60, 64, LAUNCH, correlation=2).kernel(50, 70, "k", correlation=2)
    export.kernel(80, 90, "orphan", correlation=3).kernel(90, 95, "no id", correlation=0)

    (found,) = launches(tmp_path, export)

    assert (found.call_count, found.repeated_call_count) == (1, 1)
    assert (found.impossible_pair_count, found.without_call_count) == (1, 2)


def test_work_of_no_length_does_not_end_before_it_is_launched(tmp_path: Path) -> None:
    export = Export().call(0, 4, LAUNCH, correlation=1).kernel(10, 100, "k", correlation=1)
    export.call(20, 24, LAUNCH, correlation=2).kernel(20, 20, "empty", correlation=2)
    export.call(30, 34, LAUNCH, correlation=3).kernel(100, 200, "k", correlation=3)

    (found,) = launches(tmp_path, export)

    # unfinished at each call: 0, 1, 1
    assert (found.queue_depth, found.empty_queue_frac) == (1.0, 1 / 3)


SYNC = """CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
    (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER, correlationId INTEGER, syncType INTEGER)"""


@pytest.mark.parametrize("recorded", ["rows", "calls"])
def test_waiting_while_the_gpu_works_is_not_in_idle(tmp_path: Path, recorded: str) -> None:
    # C08, T10: three threads wait from 0 to 90 each, the GPU works until 95 and from 100 on; one waits from 90 to 98
    export = Export().call(0, 1, LAUNCH, correlation=1).kernel(0, 95, "k", correlation=1).kernel(100, 110, "k")
    waits = [(0, 90, 3, 100), (0, 90, 1, 101), (0, 90, 4, 102), (90, 98, 3, 100)]
    for start_ns, end_ns, sync_type, tid in waits:
        if recorded == "calls":
            export.call(start_ns, end_ns, "cudaStreamSynchronize_v3020", tid=tid)
        else:
            values = f"{start_ns}, {end_ns}, 0, {1 << 48 | 100 << 24}, 0, {sync_type}"
            export.sql(f"INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES ({values})")
    if recorded == "rows":
        # a stream that waits for an event makes no host wait
        export._statements.insert(0, SYNC)
        export.sql(f"INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (95, 100, 0, {1 << 48 | 100 << 24}, 0, 2)")

    result = compute_synchronization(job_of(tmp_path, export), ResultSet({}))

    assert not isinstance(result, Skipped)
    source = SynchronizationSource.CUDA_CALLS if recorded == "calls" else SynchronizationSource.SYNCHRONIZATION_ROWS
    assert result.synchronization == (SynchronizationOfDevice("r0/p100/d0", source, 4, 98, 3, 95),)


def test_a_process_without_rows_has_its_calls_beside_one_with_rows(tmp_path: Path) -> None:
    export = Export()
    for pid in (100, 200, 300):
        export.call(0, 1, LAUNCH, pid=pid, correlation=1).kernel(0, 95, "k", pid=pid, correlation=1)
    export.call(90, 98, "cudaDeviceSynchronize_v3020", pid=100).call(90, 99, "cudaDeviceSynchronize_v3020", pid=200)
    export.sql(SYNC).sql(
        f"INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (91, 97, 0, {1 << 48 | 100 << 24}, 0, 4)"
    )

    result = compute_synchronization(job_of(tmp_path, export), ResultSet({}))

    # the third process has no row, and no call of it waits: that is a zero
    assert not isinstance(result, Skipped)
    assert [(found.source.value, found.count, found.total_ns) for found in result.synchronization] == [
        ("synchronization_rows", 1, 6),
        ("cuda_calls", 1, 9),
        ("cuda_calls", 0, 0),
    ]


REAL = Path(__file__).parents[3] / "shared" / "traces" / "alltoall-2xH100-before.sqlite"


@pytest.mark.skipif(not REAL.exists(), reason="the shared real exports are not beside this checkout")
def test_a_host_that_waits_for_a_busy_gpu_waits_in_0_3_percent_of_that_for_an_idle_one() -> None:
    # C09: the union of the rows of types 1, 3 and 4, and what of it lies in the device's idle time, told by hand
    result = compute_synchronization(build_job([read_trace(REAL, ReadOptions())]), ResultSet({}))

    assert not isinstance(result, Skipped)
    (found,) = [entry for entry in result.synchronization if entry.device == "r0/p144/d0"]
    assert (found.source.value, found.total_ns, found.in_idle_ns) == ("synchronization_rows", 163_613_090, 557_263)


@pytest.mark.skipif(not REAL.exists(), reason="the shared real exports are not beside this checkout")
def test_kernels_of_a_real_job_pair_within_their_process() -> None:
    # C03, T1: by correlation id alone SQL joins 4,280 pairs, by process and id 3,986 of the 4,010 kernels
    rows = join_launches(read_trace(REAL, ReadOptions())).rows["kernels"]

    assert (len(rows), int((rows != NO_CALL).sum())) == (4_010, 3_986)
