"""When the ranks of a collective end, on paper: ranks 0, 1 and 2 arrive at 10, 40 and 20; the transfer takes 5."""

from __future__ import annotations

from itertools import permutations

import pytest

from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.meeting import Meeting
from nsysan.synth.simulation.program import Message, Rendezvous
from nsysan.synth.simulation.timelines import CollectiveRun, Simulation
from nsysan.synth.truth.collective_truth import collective_truths

ARRIVALS_NS = {0: 10, 1: 40, 2: 20}
WORLD = Communicator(Purpose.DATA_PARALLEL, (0, 1, 2))


def meeting(kind: Collective, root: int | None = None, messages: tuple[Message, ...] = ()) -> Rendezvous:
    return Rendezvous(
        key="m", collective=kind, communicator=WORLD, size_bytes=8, transfer_ns=5, root=root, messages=messages
    )


def run_of(rendezvous: Rendezvous, order: tuple[int, ...] = (0, 1, 2)) -> CollectiveRun:
    met = Meeting(rendezvous)
    ended = [pair for rank in order if rank in rendezvous.ranks for pair in met.arrive(rank, ARRIVALS_NS[rank])]
    assert met.run is not None
    assert dict(ended) == met.run.end_ns_by_rank
    return met.run


@pytest.mark.parametrize(
    ("kind", "root", "ends_ns", "waits_ns"),
    [
        (Collective.ALL_REDUCE, None, (45, 45, 45), (30, 0, 20)),
        (Collective.ALL_TO_ALL, None, (45, 45, 45), (30, 0, 20)),
        # the root's data wait for nobody; rank 0 waits until 40 for a late root, not at all for an early one
        (Collective.BROADCAST, 1, (45, 45, 45), (30, 0, 20)),
        (Collective.BROADCAST, 0, (15, 45, 25), (0, 0, 0)),
        (Collective.SCATTER, 2, (25, 45, 25), (10, 0, 0)),
        # the root waits for the last, the others for nobody
        (Collective.REDUCE, 0, (45, 45, 25), (30, 0, 0)),
        (Collective.GATHER, 1, (15, 45, 25), (0, 0, 0)),
    ],
)
def test_each_rank_ends_when_what_it_needs_is_there(
    kind: Collective, root: int | None, ends_ns: tuple[int, ...], waits_ns: tuple[int, ...]
) -> None:
    for order in permutations(ARRIVALS_NS):
        run = run_of(meeting(kind, root), order)

        [truth] = collective_truths(Simulation((), (run,)))
        assert (truth.start_by_rank_ns, truth.end_by_rank_ns) == ((10, 40, 20), ends_ns)
        assert (truth.transfer_ns, truth.wait_by_rank_ns) == (5, waits_ns)


def test_a_message_is_of_two_ranks_and_tells_who_sent_it() -> None:
    run = run_of(meeting(Collective.SEND_RECV, messages=(Message(2, 1, 8),)))

    [truth] = collective_truths(Simulation((), (run,)))

    assert (truth.ranks, truth.start_by_rank_ns, truth.end_by_rank_ns) == ((1, 2), (40, 20), (45, 45))
    assert (truth.sent_by_rank_bytes, truth.received_by_rank_bytes) == ((0, 8), (8, 0))
    assert truth.wait_by_rank_ns == (0, 20)


def test_instances_are_counted_per_ranks_of_a_communicator() -> None:
    pairs = [(Message(0, 1, 8),), (Message(1, 2, 8),), (Message(1, 0, 8),)]
    runs = [run_of(meeting(Collective.SEND_RECV, messages=pair)) for pair in pairs]
    runs.append(run_of(meeting(Collective.ALL_REDUCE)))

    truths = collective_truths(Simulation((), tuple(runs)))

    assert [(truth.ranks, truth.sequence) for truth in truths] == [
        ((0, 1), 0),
        ((1, 2), 0),
        ((0, 1), 1),
        ((0, 1, 2), 0),
    ]
    assert len({truth.communicator for truth in truths}) == 1
