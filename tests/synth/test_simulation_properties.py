"""What holds of any simulated job, whatever its programs."""

from __future__ import annotations

from itertools import groupby, pairwise

from hypothesis import given
from hypothesis import strategies as st

from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.host import Machine
from nsysan.synth.simulation.program import Action, HostWork, PlainCall, RecordEvent, Synchronize, WaitEvent
from nsysan.synth.simulation.timelines import Simulation
from nsysan.synth.truth.busy import part_times, window_of
from nsysan.synth.truth.idle_cause import idle_causes
from tests.synth.programs import all_reduce, launch

RANK_COUNT = 3
streams = st.sampled_from([7, 8])
lone_steps: st.SearchStrategy[list[Action]] = st.one_of(
    st.builds(lambda ns, stream: [launch(ns, call_ns=4_000, stream_id=stream)], st.integers(1, 300_000), streams),
    st.builds(lambda ns: [HostWork(ns)], st.integers(0, 2_000_000)),
    st.builds(lambda ns: [HostWork(ns, "data_loading")], st.integers(0, 500_000)),
    st.builds(lambda ns: [PlainCall("cudaMalloc_v3020", ns, "allocator")], st.integers(1, 200_000)),
    st.builds(lambda stream: [Synchronize(stream)], st.sampled_from([None, 7, 8])),
    st.builds(lambda stream: [RecordEvent("e", stream), WaitEvent("e", 15 - stream)], streams),
)
machines = st.builds(
    Machine,
    handover_ns=st.integers(0, 30_000),
    wake_up_ns=st.integers(0, 30_000),
    queue_depth=st.sampled_from([1, 3, 1_024]),
)


@st.composite
def jobs(draw: st.DrawFn) -> Simulation:
    """Ranks with programs of their own that meet at the same collectives in the same order, all on one stream."""
    programs: list[list[Action]] = [[launch(1)] for _ in range(RANK_COUNT)]
    for meeting in range(draw(st.integers(0, 4))):
        for program in programs:
            for steps in draw(st.lists(lone_steps, max_size=4)):
                program.extend(steps)
            program.append(all_reduce(f"{meeting}", RANK_COUNT, 10_000, stream_id=7))
    return simulate(programs, draw(machines))


@given(jobs())
def test_parts_fill_the_window_and_causes_fill_the_idle_time(job: Simulation) -> None:
    for timeline in job.ranks:
        start_ns, end_ns = window_of(timeline.works)
        times = part_times(timeline.works)
        causes = idle_causes(timeline)

        assert times.window_ns == end_ns - start_ns
        assert sum(causes.values()) == times.idle_ns
        assert all(time_ns > 0 for time_ns in causes.values())


@given(jobs())
def test_a_stream_runs_one_task_at_a_time_and_none_before_it_is_called(job: Simulation) -> None:
    for timeline in job.ranks:
        by_stream = sorted(timeline.works, key=lambda work: work.stream_id)
        for _, works in groupby(by_stream, key=lambda work: work.stream_id):
            assert all(before.end_ns <= after.start_ns for before, after in pairwise(works))
        assert all(work.call.start_ns <= work.start_ns for work in timeline.works)


@given(jobs())
def test_the_thread_does_one_thing_after_the_other(job: Simulation) -> None:
    for timeline in job.ranks:
        assert all(before.end_ns == after.start_ns for before, after in pairwise(timeline.spans))


@given(jobs())
def test_a_collective_lasts_its_transfer_after_the_last_arrival(job: Simulation) -> None:
    for run in job.collectives:
        assert run.end_ns - max(run.start_ns_by_rank.values()) == run.rendezvous.transfer_ns
        assert sorted(run.start_ns_by_rank) == list(range(RANK_COUNT))
