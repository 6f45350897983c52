"""Idle time by cause, each on a program of a few lines. Every gap is cut at begin and end of the call that ends it."""

from __future__ import annotations

import pytest

from nsysan.model.copies import CopyKind
from nsysan.synth.simulation.host import Machine
from nsysan.synth.simulation.program import Action, HostWork, Launch, PlainCall, Synchronize, copy, graph
from nsysan.synth.truth.idle_cause import idle_causes
from tests.synth.programs import launch, run

MACHINE = Machine(handover_ns=1_000, wake_up_ns=5_000)
KERNEL = launch(10_000, call_ns=4_000)
"""As the first one: called in [0, 4000), runs in [5000, 15000). After it the thread is at 4000."""


def causes(*after_first_kernel: Action, machine: Machine = MACHINE) -> dict[str, int]:
    return dict(idle_causes(run(KERNEL, *after_first_kernel, machine=machine)))


def test_what_the_thread_does_before_the_call_the_call_and_the_start_after_it() -> None:
    # idle from 15000 on; the thread works until 54000, calls until 58000, the kernel starts at 59000
    assert causes(HostWork(50_000), KERNEL) == {"launch_starved": 39_000, "launch_latency": 5_000}


def test_waiting_for_a_batch() -> None:
    assert causes(HostWork(50_000, "data_loading"), HostWork(3_000), KERNEL) == {
        "data_loading": 39_000,
        "launch_starved": 3_000,
        "launch_latency": 5_000,
    }


def test_a_kernel_that_was_ready_in_time_is_handed_over() -> None:
    assert causes(KERNEL) == {"handover": 1_000}


def test_what_is_ready_but_starts_later_than_handing_over_takes_waits_for_the_device() -> None:
    slow = Machine(handover_ns=30_000)

    assert causes(KERNEL, machine=slow) == {"handover": 20_000, "device_wait": 10_000}


def test_the_refill_after_a_synchronisation_is_its_cost() -> None:
    # the kernel ends at 15000, the synchronisation at 20000, the next call begins at 70000
    assert causes(Synchronize(7), HostWork(50_000), KERNEL) == {"host_sync": 55_000, "launch_latency": 5_000}


@pytest.mark.parametrize(
    ("refill_ns", "expected"),
    [
        (1_000_000, {"host_sync": 1_005_000, "launch_latency": 5_000}),
        (1_000_001, {"host_sync": 5_000, "launch_starved": 1_000_001, "launch_latency": 5_000}),
    ],
)
def test_a_refill_of_more_than_a_millisecond_is_something_else(refill_ns: int, expected: dict[str, int]) -> None:
    assert causes(Synchronize(7), HostWork(refill_ns), KERNEL) == expected


def test_loading_after_a_synchronisation_is_loading() -> None:
    assert causes(Synchronize(7), HostWork(50_000, "data_loading"), HostWork(2_000), KERNEL) == {
        "host_sync": 7_000,
        "data_loading": 50_000,
        "launch_latency": 5_000,
    }


def test_what_the_thread_does_on_the_way_to_a_load_is_loading_and_after_it_starving() -> None:
    load = PlainCall("cuLibraryLoadData", 30_000, "module_loading")

    # idle from 15000 on; the thread works until 24000, loads until 54000, works until 57000, calls until 61000
    assert causes(HostWork(20_000), load, HostWork(3_000), KERNEL) == {
        "module_loading": 39_000,
        "launch_starved": 3_000,
        "launch_latency": 5_000,
    }


def test_freeing_waits_for_the_gpu_and_is_the_allocator_not_a_synchronisation() -> None:
    free = Synchronize(name="cudaFree_v3020", cause="allocator")

    # the kernel ends at 15000, freeing at 20000, allocating at 70000; then the launch takes 4000 and 1000 to its start
    assert causes(free, PlainCall("cudaMalloc_v3020", 50_000, "allocator"), KERNEL) == {
        "allocator": 55_000,
        "launch_latency": 5_000,
    }


def test_launching_a_graph_is_never_slow() -> None:
    # called at 4000, at 154000 it returns, the graph starts at 155000: the GPU idles from 15000
    assert causes(Launch("cudaGraphLaunch_v10000", 150_000, 7, graph(1_000))) == {"launch_latency": 140_000}


def test_a_blocking_copy_is_one_from_its_begin_to_its_work() -> None:
    to_device = Launch("cudaMemcpy_v3020", 40_000, 7, copy(CopyKind.HOST_TO_DEVICE, 1_000_000, 60_000), blocking=True)

    # called at 4000, issued at 44000, copied in [45000, 105000): all of the gap from 15000 lies inside the call
    assert causes(to_device) == {"blocking_copy": 30_000}


def test_allocating_and_a_slow_launch() -> None:
    allocation = PlainCall("cudaMalloc_v3020", 50_000, "allocator")

    assert causes(allocation, launch(1_000, call_ns=100_001)) == {
        "allocator": 39_000,
        "slow_launch": 100_001,
        "launch_latency": 1_000,
    }


@pytest.mark.parametrize(
    ("kernel_ns", "expected"),
    [
        # called at 0, ends at 21000: 16000 after the synchronisation of the empty stream
        (20_000, {"host_sync": 84_000, "launch_latency": 5_000}),
        # ends at 61000: 56000 after it, too long to blame it
        (60_000, {"launch_starved": 44_000, "launch_latency": 5_000}),
    ],
)
def test_a_synchronisation_long_before_the_gap_is_not_its_cause(kernel_ns: int, expected: dict[str, int]) -> None:
    timeline = run(launch(kernel_ns), Synchronize(8), HostWork(100_000), KERNEL, machine=MACHINE)

    assert dict(idle_causes(timeline)) == expected
