"""Jobs of several communicators run as early as what each piece of work waits for lets them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.host import Machine
from nsysan.synth.simulation.program import Action, HostWork, Message, Rendezvous
from nsysan.synth.simulation.timelines import RankTimeline
from tests.synth.programs import join, launch

RANK_COUNT = 4
HANDOVER_NS = 3
COMMUNICATORS = (
    Communicator(Purpose.DATA_PARALLEL, (0, 1, 2, 3)),
    Communicator(Purpose.TENSOR_PARALLEL, (0, 1)),
    Communicator(Purpose.TENSOR_PARALLEL, (2, 3)),
    Communicator(Purpose.PIPELINE_PARALLEL, (0, 2)),
)
ROOTED = (Collective.BROADCAST, Collective.SCATTER, Collective.REDUCE, Collective.GATHER)
KINDS = (Collective.ALL_REDUCE, Collective.ALL_TO_ALL, Collective.SEND_RECV, *ROOTED)
streams = st.sampled_from([7, 8])
delays = st.integers(0, 1_000)


@st.composite
def meetings(draw: st.DrawFn) -> list[Rendezvous]:
    """Some, in an order that all ranks keep; many have the same key in another communicator."""
    met = []
    for number in range(draw(st.integers(1, 8))):
        communicator, kind = draw(st.sampled_from(COMMUNICATORS)), draw(st.sampled_from(KINDS))
        source, target = draw(st.permutations(communicator.ranks))[:2]
        met.append(
            Rendezvous(
                key=f"{number // 2}" if kind is Collective.ALL_REDUCE else f"{number} {kind.value}",
                collective=kind,
                communicator=communicator,
                size_bytes=8,
                transfer_ns=draw(st.integers(0, 500)),
                root=draw(st.sampled_from(communicator.ranks)) if kind in ROOTED else None,
                messages=(Message(source, target, 8),) if kind is Collective.SEND_RECV else (),
            )
        )
    unique = {(meeting.communicator, meeting.key): meeting for meeting in met}
    return list(unique.values())


@dataclass(frozen=True)
class Piece:
    """A piece of work: when its call returned, its stream, its own duration, the collective it is part of."""

    called_ns: int
    stream_id: int
    duration_ns: int
    meeting: Rendezvous | None


@st.composite
def jobs(draw: st.DrawFn) -> tuple[list[list[Action]], list[list[Piece]]]:
    programs: list[list[Action]] = [[] for _ in range(RANK_COUNT)]
    pieces: list[list[Piece]] = [[] for _ in range(RANK_COUNT)]
    now_ns = [0] * RANK_COUNT
    for meeting in draw(meetings()):
        for rank in meeting.ranks:
            wait_ns, own_ns, stream_id = draw(delays), draw(st.integers(1, 500)), draw(streams)
            programs[rank] += [HostWork(wait_ns), launch(own_ns, stream_id=stream_id), join(meeting, stream_id=7)]
            now_ns[rank] += wait_ns
            pieces[rank] += [
                Piece(now_ns[rank], stream_id, own_ns, None),
                Piece(now_ns[rank], 7, meeting.transfer_ns, meeting),
            ]
    return programs, pieces


def least_times(pieces: list[list[Piece]]) -> list[list[tuple[int, int]]]:
    """Start and end of each piece: raised from zero until each starts and ends no earlier than it may."""
    times = [[(0, 0)] * len(own) for own in pieces]
    while True:
        raised = [[_raised(times, pieces, rank, index) for index in range(len(own))] for rank, own in enumerate(pieces)]
        if raised == times:
            return times
        times = raised


def _raised(times: list[list[tuple[int, int]]], pieces: list[list[Piece]], rank: int, index: int) -> tuple[int, int]:
    piece = pieces[rank][index]
    before = [times[rank][k][1] for k in range(index) if pieces[rank][k].stream_id == piece.stream_id]
    start_ns = max([piece.called_ns, *before[-1:]]) + HANDOVER_NS
    meeting = piece.meeting
    if meeting is None:
        return start_ns, start_ns + piece.duration_ns
    arrivals = {
        other: times[other][k][0]
        for other in meeting.ranks
        for k, theirs in enumerate(pieces[other])
        if theirs.meeting is meeting
    }
    arrivals[rank] = start_ns
    needed = _needed_by(rank, meeting)
    return start_ns, max(arrivals[other] for other in needed) + piece.duration_ns


def _needed_by(rank: int, meeting: Rendezvous) -> set[int]:
    """Whose arrival a rank's transfer needs, as DESIGN defines waiting by kind."""
    root = meeting.root
    if root is None or (meeting.collective in {Collective.REDUCE, Collective.GATHER} and rank == root):
        return set(meeting.ranks)
    return {rank} if meeting.collective in {Collective.REDUCE, Collective.GATHER} else {rank, root}


@given(jobs())
def test_everything_runs_as_early_as_it_may(job: tuple[list[list[Action]], list[list[Piece]]]) -> None:
    programs, pieces = job

    simulation = simulate(programs, Machine(handover_ns=HANDOVER_NS, wake_up_ns=0))

    ran = [[(work.start_ns, work.end_ns) for work in timeline.works] for timeline in simulation.ranks]
    assert ran == least_times(pieces)


@given(jobs())
def test_every_rank_runs_the_collectives_of_the_same_ranks_in_the_same_order(
    job: tuple[list[list[Action]], list[list[Piece]]],
) -> None:
    """Collectives of other ranks may end in between, in any order: a reduce ends early on all but its root."""
    simulation = simulate(job[0], Machine(handover_ns=HANDOVER_NS, wake_up_ns=0))

    for place in {_place(run.rendezvous) for run in simulation.collectives}:
        in_order = [run.rendezvous.key for run in simulation.collectives if _place(run.rendezvous) == place]
        for rank in place[1]:
            assert _keys(simulation.ranks[rank], place) == in_order


def _place(meeting: Rendezvous) -> tuple[Communicator, tuple[int, ...]]:
    return meeting.communicator, meeting.ranks


def _keys(timeline: RankTimeline, place: tuple[Communicator, tuple[int, ...]]) -> list[str]:
    met = [work.task.rendezvous for work in timeline.works if work.task.rendezvous is not None]
    return [meeting.key for meeting in met if _place(meeting) == place]


@given(jobs())
def test_every_part_of_a_collective_is_in_one_instance_of_its_ranks(
    job: tuple[list[list[Action]], list[list[Piece]]],
) -> None:
    simulation = simulate(job[0], Machine(handover_ns=HANDOVER_NS, wake_up_ns=0))

    for run in simulation.collectives:
        assert tuple(run.start_ns_by_rank) == tuple(run.end_ns_by_rank) == run.rendezvous.ranks
    works = [work for timeline in simulation.ranks for work in timeline.works]
    assert sum(len(run.start_ns_by_rank) for run in simulation.collectives) == sum(
        work.task.rendezvous is not None for work in works
    )
