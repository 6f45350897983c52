"""Idle time while a thread waits: for the GPU, in the operating system, for data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.idle_traces import CALL_AND_HANDOVER, OTHER_TID, US, Trace, causes, ended, starved


def test_a_wait_for_a_busy_gpu_is_no_cause_but_its_restart_is(tmp_path: Path) -> None:
    # the wait ends 5 us after the work: 5 us inside it, then 85 us to the next launch
    trace = Trace().calls(20, 105, "cudaDeviceSynchronize_v3020").launch(190, 200, runs=(201, 300))

    assert causes(tmp_path, trace) == {"host_sync": 90, **CALL_AND_HANDOVER}


def test_a_wait_that_ends_long_before_the_work_does_is_no_cause(tmp_path: Path) -> None:
    # an event in the middle of what was launched: the GPU has work left when the thread goes on
    trace = Trace().calls(20, 60, "cudaEventSynchronize_v3020").calls(61, 62, "cudaEventRecord_v3020")

    assert causes(tmp_path, ended(trace)) == starved(990)
    other = Trace().calls(20, 900, "cudaDeviceSynchronize_v3020", OTHER_TID)
    assert causes(tmp_path, ended(other)) == starved(990)


@pytest.mark.parametrize(
    ("wait", "launched_at", "is_restart"),
    [
        ((20, 80), 190, True),
        ((20, 79), 190, False),  # it ended over 20 us before the gap
        ((100, 105), 190, False),  # it began in the gap
        ((20, 105), 1_105, True),
        ((20, 105), 1_106, False),  # it took over 1 ms
    ],
)
def test_when_a_wait_is_followed_by_a_restart(
    *, tmp_path: Path, wait: tuple[int, int], launched_at: int, is_restart: bool
) -> None:
    trace = Trace().calls(*wait, "cudaDeviceSynchronize_v3020")
    trace.launch(launched_at, launched_at + 10, runs=(launched_at + 11, 2_000))

    waited = max(wait[1] - 100, 0)
    rest = launched_at - 100 - waited
    expected = {"host_sync": waited + rest} if is_restart else {"host_sync": waited, "launch_starved": rest}
    assert causes(tmp_path, trace) == {key: us for key, us in {**expected, **CALL_AND_HANDOVER}.items() if us}


def test_a_longer_wait_of_the_previous_thread_hides_no_restart(tmp_path: Path) -> None:
    # the first thread still waits at the next launch; the other one shows itself at 150, after its own wait
    trace = Trace().calls(20, 400, "cudaDeviceSynchronize_v3020")
    trace.calls(20, 105, "cudaDeviceSynchronize_v3020", tid=OTHER_TID).range(150, 180, "forward", tid=OTHER_TID)
    trace.launch(190, 200, runs=(201, 300), tid=OTHER_TID)

    assert causes(tmp_path, trace) == {"host_sync": 90, **CALL_AND_HANDOVER}


def test_a_query_has_no_restart(tmp_path: Path) -> None:
    trace = Trace().calls(90, 105, "cudaEventQuery_v3020").launch(190, 200, runs=(201, 300))

    assert causes(tmp_path, trace) == {"host_sync": 5, **starved(85)}


# --- before the call: the operating system


def test_a_call_of_the_operating_system_blocks(tmp_path: Path) -> None:
    assert causes(tmp_path, ended(Trace().in_os(300, 500, "write"))) == {"os_blocked": 200, **starved(790)}
    assert causes(tmp_path, ended(Trace().in_os(300, 500, "write", OTHER_TID))) == starved(990)


def test_a_thread_off_its_core_is_blocked(tmp_path: Path) -> None:
    assert causes(tmp_path, ended(Trace().off_core(300, 500))) == {"os_blocked": 200, **starved(790)}


BATCH = 4_096


@pytest.mark.parametrize(
    ("waits", "size_bytes", "cause"),
    [
        ([("poll", 100, 600)], BATCH, "data_loading"),
        ([("pthread_cond_timedwait", 100, 400), ("read", 500, 700)], BATCH, "data_loading"),
        ([("poll", 100, 500)], BATCH, "os_blocked"),  # less than half of the host's part
        ([("write", 100, 600)], BATCH, "os_blocked"),  # waits for nobody
        ([("poll", 100, 600)], BATCH - 1, "os_blocked"),  # a scalar is no batch
    ],
)
def test_a_loader_without_ranges_is_told_by_its_waits(
    tmp_path: Path, waits: list[tuple[str, int, int]], size_bytes: int, cause: str
) -> None:
    trace = Trace()
    for name, start, end in waits:
        trace.in_os(start, end, name)
    trace.load(1_090, 1_100, runs=(1_101, 1_200), name="cudaMemcpyAsync_v3020", size_bytes=size_bytes)

    blocked = sum(end - start for _, start, end in waits)
    assert causes(tmp_path, trace) == {cause: blocked, **starved(990 - blocked)}


def test_a_wait_before_anything_but_a_copy_to_the_device_is_no_loader(tmp_path: Path) -> None:
    copied_back = Trace().in_os(100, 3_000, "poll")
    copied_back.call(3_090 * US, 3_100 * US, "cudaMemcpyAsync_v3020", correlation=9)
    copied_back.copy(3_101 * US, 3_200 * US, 1 << 20, kind=2, correlation=9)

    expected = {"os_blocked": 2_900, "launch_starved": 90, **CALL_AND_HANDOVER}
    assert causes(tmp_path, copied_back) == expected
    kernel = Trace().in_os(100, 3_000, "poll").launch(3_090, 3_100, runs=(3_101, 3_200))
    assert causes(tmp_path, kernel) == expected


def test_another_threads_wait_is_no_loader(tmp_path: Path) -> None:
    trace = Trace().in_os(100, 900, "poll", OTHER_TID)
    trace.load(1_090, 1_100, runs=(1_101, 1_200), name="cudaMemcpyAsync_v3020")

    assert causes(tmp_path, trace) == starved(990)


def test_a_wait_in_a_short_gap_or_on_the_way_to_a_load_is_no_loader(tmp_path: Path) -> None:
    short = Trace().in_os(100, 900, "poll").load(990, 1_000, runs=(1_000, 1_200), name="cudaMemcpyAsync_v3020")
    assert causes(tmp_path, short) == {"os_blocked": 800, "launch_starved": 90, "launch_latency": 10}

    loading = Trace().calls(150, 200, "cuModuleLoadData").in_os(250, 900, "poll")
    loading.load(1_090, 1_100, runs=(1_101, 1_200), name="cudaMemcpyAsync_v3020")
    assert causes(tmp_path, loading) == {"module_loading": 100, "os_blocked": 650, **starved(240)}
