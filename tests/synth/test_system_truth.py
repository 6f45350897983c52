"""Host, memory and counters of a simulated rank: on paper, and against a count of every nanosecond."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.model.kernels import Collective
from nsysan.model.partition import Activity
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import whole
from nsysan.synth.simulation.gemm import GemmShape
from nsysan.synth.simulation.program import Rendezvous, Task, collective_kernel, copy, gemm_kernel, kernel, memset
from nsysan.synth.simulation.timelines import Call, GpuWork, Span
from nsysan.synth.system.counters import METRICS, SAMPLE_NS, Counters
from nsysan.synth.system.memory import Footprint, MemoryEvent, memory_events, memory_truth
from nsysan.synth.system.os_wait import HostTruth, OsCall, Switch, host_truth, os_calls, switches
from nsysan.synth.training import kernels

MIB = 1 << 20
CALL = Call(0, 0, None, "cudaLaunchKernel", 1)


def work(start_ns: int, end_ns: int, task: Task) -> GpuWork:
    return GpuWork(start_ns, end_ns, 7, task, CALL)


def test_a_batch_is_polled_for_and_read_and_a_synchronisation_sleeps() -> None:
    spans = [
        Span(0, 50_000, "data_loading"),
        Span(50_000, 60_000, None),
        Call(60_000, 90_000, "host_sync", "cudaDeviceSynchronize_v3020", 1),
        Call(90_000, 95_000, "allocator", "cudaMalloc_v3020", 2),
        Call(95_000, 99_000, None, "cudaLaunchKernel_v7000", 3),
    ]

    calls = os_calls(spans)

    assert calls == (
        OsCall(0, 47_000, "poll"),
        OsCall(47_000, 50_000, "read"),
        OsCall(60_500, 89_500, "poll"),
        OsCall(90_500, 94_500, "ioctl"),
    )
    assert list(switches(calls)) == [
        Switch(1_000, is_in=False),
        Switch(46_000, is_in=True),
        Switch(61_500, is_in=False),
        Switch(88_500, is_in=True),
    ]
    assert host_truth(spans) == HostTruth(4, 47_000 + 3_000 + 29_000 + 4_000, 45_000 + 27_000)


@pytest.mark.parametrize(("duration_ns", "names"), [(3_000, ["read"]), (3_999, ["read"]), (4_000, ["poll", "read"])])
def test_calls_below_a_microsecond_are_not_recorded(duration_ns: int, names: list[str]) -> None:
    assert [call.name for call in os_calls([Span(0, duration_ns, "data_loading")])] == names


def test_memory_is_reserved_at_the_start_and_the_allocator_exchanges_blocks() -> None:
    # a layer keeps 16 bytes a parameter and 17 activations; blocks are of 4, 5, 6 activations: 8, 10, 12 MiB
    footprint = Footprint(layer_count=1, parameter_count=MIB, activation_bytes=2 * MIB)
    calls = [
        Call(10 * index, 10 * index + 5, "allocator", name, index)
        for index, name in enumerate(["cudaFree_v3020", "cudaMalloc_v3020"] * 3, start=1)
    ]

    events = memory_events(calls, 3, footprint)

    first = 0x7F20_0000_0000
    reserved = [
        MemoryEvent(3, first, 16 * MIB, is_freed=False, correlation_id=None),
        MemoryEvent(3, first + 16 * MIB, 34 * MIB, is_freed=False, correlation_id=None),
        MemoryEvent(3, first + 50 * MIB, 8 * MIB, is_freed=False, correlation_id=None),
    ]
    assert list(events[:3]) == reserved
    assert [(event.time_ns, event.size_bytes // MIB, event.is_freed, event.correlation_id) for event in events[3:]] == [
        (15, 8, True, 1),
        (25, 10, False, 2),
        (35, 10, True, 3),
        (45, 12, False, 4),
        (55, 12, True, 5),
        (65, 8, False, 6),
    ]
    truth = memory_truth(events)
    assert (truth.start_bytes, truth.peak_bytes, truth.end_bytes) == (58 * MIB, 62 * MIB, 58 * MIB)


def test_a_rank_that_allocates_nothing_keeps_what_it_reserved() -> None:
    truth = memory_truth(memory_events([CALL], 0, Footprint(2, 1, 1)))

    # two layers, each a granule of 2 MiB for its parameters and one for its activations
    assert (truth.start_bytes, truth.peak_bytes, truth.end_bytes) == (8 * MIB, 8 * MIB, 8 * MIB)


def samples_of(found: Iterable[GpuWork], start_ns: int = 0, count: int = 1) -> list[tuple[int, dict[str, int]]]:
    return list(Counters(found).samples(start_ns, count))


def test_counters_on_paper() -> None:
    # 2 m n k = 24735e6 FLOP in 50 us are 494.7 TFLOP/s, half of 989.4
    half = gemm_kernel("gemm", 0, GemmShape(1, 12_367_500, 1_000))

    [(end_ns, values)] = samples_of([work(0, 50_000, half)])

    assert end_ns == SAMPLE_NS
    busy = {"GR Active": 50, "SMs Active": 50, "SM Issue": 15, "Tensor Active": 25}
    assert values == dict.fromkeys(METRICS, 0) | busy | {"DRAM Read Bandwidth": 10, "DRAM Write Bandwidth": 5}


def test_a_collective_uses_the_links_while_it_transfers_and_few_multiprocessors_all_the_time() -> None:
    # 2 ranks: 2 (n - 1) / n = 1; 9 MB in 40 us are 225 GB/s, half of 450; it waits for the first 60 us
    meeting = Rendezvous(
        key="a",
        collective=Collective.ALL_REDUCE,
        communicator=whole(Purpose.DATA_PARALLEL, 2)[0],
        size_bytes=9_000_000,
        transfer_ns=40_000,
    )

    [(_, values)] = samples_of([work(0, SAMPLE_NS, collective_kernel("nccl", meeting))])

    assert (values["SMs Active"], values["NVLink RX Responses User Data"], values["NVLink TX Requests User Data"]) == (
        *(18, 20, 20),
    )


def test_copies_use_the_host_link_in_their_direction() -> None:
    # 3.15 MB in 100 us are 31.5 GB/s, half of 63
    found = [work(0, 100_000, copy(1, 3_150_000, 0)), work(0, 100_000, copy(2, 1_575_000, 0))]

    [(_, values)] = samples_of([*found, work(0, 100_000, memset(64, 0))])

    assert {metric: value for metric, value in values.items() if value} == {
        "PCIe RX Throughput": 50,
        "PCIe TX Throughput": 25,
    }


TASKS = [
    kernel(kernels.ADD, 0),
    kernel(kernels.ATTENTION_FORWARD, 0),
    kernel("nccl", 0, Activity.COMMUNICATION),
    copy(1, 4_000, 0),
]
works = st.lists(
    st.builds(
        lambda start, length, task: work(start, start + length, task),
        st.integers(0, SAMPLE_NS),
        st.integers(1, SAMPLE_NS),
        st.sampled_from(TASKS),
    ),
    max_size=5,
)


@settings(deadline=None)
@given(works, st.integers(-1_000, 1_000))
def test_the_multiprocessors_are_as_busy_as_a_count_of_every_nanosecond_says(
    found: list[GpuWork], start_ns: int
) -> None:
    share = {Activity.COMPUTE: 100, Activity.COMMUNICATION: 18, Activity.COPY: 0}
    length_ns = 3 * SAMPLE_NS
    loads = np.zeros(length_ns, np.int16)
    for one in found:
        loads[max(one.start_ns - start_ns, 0) : max(one.end_ns - start_ns, 0)] += share[one.task.activity]
    capped = np.minimum(loads, 100)

    samples = samples_of(found, start_ns, 3)

    for position, (end_ns, values) in enumerate(samples):
        mean = capped[position * SAMPLE_NS : (position + 1) * SAMPLE_NS].mean()
        assert end_ns == start_ns + (position + 1) * SAMPLE_NS
        assert abs(values["SMs Active"] - mean) <= 0.5
    if start_ns <= 0:
        assert Counters(found).totals()["SMs Active"] == capped.sum()
