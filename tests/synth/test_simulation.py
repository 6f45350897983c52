"""The simulation, in cases small enough to work out on paper."""

from __future__ import annotations

import pytest

from nsysan.model.copies import CopyKind
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.host import Machine
from nsysan.synth.simulation.program import (
    Action,
    HostWork,
    Launch,
    Pop,
    Push,
    RecordEvent,
    Synchronize,
    WaitEvent,
    copy,
)
from nsysan.synth.simulation.timelines import Call, Range
from nsysan.synth.truth.collective_truth import collective_truths
from tests.synth.programs import PROMPT, all_reduce, launch, run, times


def test_a_collective_ends_on_all_ranks_when_the_last_has_come_and_the_transfer_is_over() -> None:
    programs: list[list[Action]] = [
        [HostWork(begins_ns), all_reduce("gradients", 4, transfer_ns=3)] for begins_ns in (0, 0, 0, 30)
    ]

    simulation = simulate(programs, PROMPT)

    assert [times(timeline) for timeline in simulation.ranks] == [[(0, 33)], [(0, 33)], [(0, 33)], [(30, 33)]]
    [truth] = collective_truths(simulation)
    assert (truth.start_by_rank_ns, truth.end_by_rank_ns) == ((0, 0, 0, 30), (33, 33, 33, 33))
    assert (truth.transfer_ns, truth.wait_by_rank_ns) == (3, (30, 30, 30, 0))


def test_the_next_collective_waits_for_the_one_before_on_its_stream() -> None:
    programs: list[list[Action]] = [
        [HostWork(begins_ns), all_reduce("first", 2, transfer_ns=5), all_reduce("second", 2, transfer_ns=7)]
        for begins_ns in (0, 10)
    ]

    assert [times(timeline) for timeline in simulate(programs, PROMPT).ranks] == [
        [(0, 15), (15, 22)],
        [(10, 15), (15, 22)],
    ]


def test_a_stream_runs_in_order_and_starts_no_task_before_its_call_has_returned() -> None:
    machine = Machine(handover_ns=1, wake_up_ns=0)

    timeline = run(launch(10, call_ns=4), launch(10, call_ns=4), machine=machine)

    assert [(call.start_ns, call.end_ns) for call in timeline.calls] == [(0, 4), (4, 8)]
    assert times(timeline) == [(5, 15), (16, 26)]


def test_streams_run_side_by_side_until_one_waits_for_an_event_of_the_other() -> None:
    timeline = run(
        launch(10, stream_id=7),
        RecordEvent("done", 7, duration_ns=0),
        launch(3, stream_id=8),
        WaitEvent("done", 8, duration_ns=0),
        launch(5, stream_id=8),
        launch(2, stream_id=7),
    )

    assert times(timeline) == [(0, 10), (0, 3), (10, 15), (10, 12)]


def test_waiting_for_the_same_work_twice_is_waiting_once() -> None:
    waits_for_itself = (RecordEvent("done", 7, duration_ns=0), WaitEvent("done", 7, duration_ns=0))
    programs: list[list[Action]] = [
        [all_reduce("first", 2, 5), *waits_for_itself, all_reduce("second", 2, 5)] for _ in range(2)
    ]

    simulation = simulate(programs, PROMPT)

    assert [(run.start_ns_by_rank, run.end_ns) for run in simulation.collectives] == [
        ({0: 0, 1: 0}, 5),
        ({0: 5, 1: 5}, 10),
    ]


def test_synchronising_a_stream_holds_the_thread_until_the_stream_has_drained() -> None:
    machine = Machine(handover_ns=0, wake_up_ns=5)

    timeline = run(
        launch(10, stream_id=7), launch(90, stream_id=8), Synchronize(7, duration_ns=1), launch(4), machine=machine
    )

    assert timeline.calls[2] == Call(0, 15, "host_sync", "cudaStreamSynchronize_v3020", 3)
    assert times(timeline) == [(0, 10), (0, 90), (15, 19)]


def test_synchronising_the_device_waits_for_every_stream() -> None:
    timeline = run(launch(10, stream_id=7), launch(90, stream_id=8), Synchronize(duration_ns=1))

    assert timeline.calls[2] == Call(0, 90, "host_sync", "cudaDeviceSynchronize_v3020", 3)


def test_a_blocking_copy_returns_when_the_copy_has_ended() -> None:
    read_back = Launch("cudaMemcpy_v3020", 2, 7, copy(CopyKind.DEVICE_TO_HOST, 4, 6), blocking=True)

    timeline = run(launch(10), read_back)

    assert timeline.calls[1] == Call(0, 16, "blocking_copy", "cudaMemcpy_v3020", 2)
    assert times(timeline) == [(0, 10), (10, 16)]


def test_a_full_queue_blocks_the_launch_until_a_task_of_it_starts() -> None:
    machine = Machine(handover_ns=0, wake_up_ns=0, queue_depth=2)

    timeline = run(launch(100), launch(100), launch(100), launch(100), machine=machine)

    # the fourth waits for the second to start, and that starts when the first ends
    assert [call.end_ns for call in timeline.calls] == [0, 0, 0, 100]


def test_ranges_enclose_what_happens_between_push_and_pop() -> None:
    timeline = run(Push("step 0"), HostWork(5), Push("forward", 1), launch(1, call_ns=2), Pop(), HostWork(1), Pop())

    assert timeline.ranges == (Range(5, 7, "forward", 1), Range(0, 8, "step 0", 0))


def test_ranks_that_wait_for_each_other_for_ever_are_an_error() -> None:
    crossed: list[list[Action]] = [
        [all_reduce("a", 2, 1), Synchronize(), all_reduce("b", 2, 1)],
        [all_reduce("b", 2, 1), Synchronize(), all_reduce("a", 2, 1)],
    ]

    with pytest.raises(ValueError, match="2 of 2 ranks wait for each other for ever"):
        simulate(crossed, PROMPT)


def test_a_collective_that_a_rank_never_reaches_is_an_error() -> None:
    with pytest.raises(ValueError, match="a task of rank 0 never ended"):
        simulate([[all_reduce("a", 2, 1)], [HostWork(1)]], PROMPT)
