"""Transfer and waits of each collective of a simulation, from its starts and ends alone."""

from __future__ import annotations

from collections import Counter

from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.meeting import FROM_ROOT, TO_ROOT
from nsysan.synth.simulation.program import Message
from nsysan.synth.simulation.timelines import CollectiveRun, Simulation
from nsysan.synth.truth.job_truth import CollectiveTruth


def collective_truths(simulation: Simulation) -> tuple[CollectiveTruth, ...]:
    """What is true of each, in the order of their ends."""
    counts: Counter[tuple[Communicator, tuple[int, ...]]] = Counter()
    truths = []
    for run in simulation.collectives:
        place = (run.rendezvous.communicator, run.rendezvous.ranks)
        truths.append(_truth(run, counts[place]))
        counts[place] += 1
    return tuple(truths)


def _truth(run: CollectiveRun, sequence: int) -> CollectiveTruth:
    meeting, ranks = run.rendezvous, tuple(run.start_ns_by_rank)
    transfers_ns = {rank: run.end_ns_by_rank[rank] - _ready_ns(run, rank) for rank in ranks}
    waits_ns = (_ready_ns(run, rank) - run.start_ns_by_rank[rank] for rank in ranks)
    messages = meeting.messages
    return CollectiveTruth(
        id=meeting.key,
        kind=meeting.collective,
        communicator=meeting.communicator.id,
        purpose=meeting.communicator.purpose,
        ranks=ranks,
        root=meeting.root,
        sequence=sequence,
        size_bytes=meeting.size_bytes,
        sent_by_rank_bytes=_bytes_of({rank: [m for m in messages if m.source == rank] for rank in ranks}),
        received_by_rank_bytes=_bytes_of({rank: [m for m in messages if m.target == rank] for rank in ranks}),
        start_by_rank_ns=tuple(run.start_ns_by_rank.values()),
        end_by_rank_ns=tuple(run.end_ns_by_rank.values()),
        transfer_ns=max(transfers_ns.values()),
        wait_by_rank_ns=tuple(waits_ns),
    )


def _bytes_of(messages: dict[int, list[Message]]) -> tuple[int, ...] | None:
    """The sizes per rank; None where there are no messages at all."""
    if not any(messages.values()):
        return None
    return tuple(sum(message.size_bytes for message in found) for found in messages.values())


def _ready_ns(run: CollectiveRun, rank: int) -> int:
    """When the last of those whose arrival the rank's transfer needs was there.

    A broadcast or scatter needs the root, a reduce or gather all others on the root and nobody elsewhere, any other
    kind all ranks.
    """
    kind, root, starts_ns = run.rendezvous.collective, run.rendezvous.root, run.start_ns_by_rank
    if kind in FROM_ROOT and root is not None:
        return max(starts_ns[rank], starts_ns[root])
    if kind in TO_ROOT and rank != root:
        return starts_ns[rank]
    return max(starts_ns.values())
