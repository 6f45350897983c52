"""Short ways to write the program of a host thread, and to see when its GPU worked."""

from __future__ import annotations

from nsysan.model.kernels import Collective
from nsysan.model.partition import Activity
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.host import Machine
from nsysan.synth.simulation.program import Action, Launch, Rendezvous, collective_kernel, kernel
from nsysan.synth.simulation.timelines import RankTimeline

PROMPT = Machine(handover_ns=0, wake_up_ns=0)
"""A machine on which nothing takes time but what the program says."""


def launch(duration_ns: int, *, call_ns: int = 0, stream_id: int = 7, activity: Activity = Activity.COMPUTE) -> Launch:
    """The launch of a kernel that takes ``duration_ns``."""
    return Launch("cudaLaunchKernel_v7000", call_ns, stream_id, kernel("k", duration_ns, activity))


def all_reduce(key: str, rank_count: int, transfer_ns: int, *, stream_id: int = 7) -> Launch:
    """The launch of one rank's part of an all-reduce."""
    meeting = Rendezvous(
        key=key,
        collective=Collective.ALL_REDUCE,
        communicator=Communicator(Purpose.DATA_PARALLEL, tuple(range(rank_count))),
        size_bytes=1_000,
        transfer_ns=transfer_ns,
    )
    return join(meeting, stream_id=stream_id)


def join(meeting: Rendezvous, *, stream_id: int = 7) -> Launch:
    """The launch of one rank's part of a collective."""
    return Launch("cudaLaunchKernelExC_v11060", 0, stream_id, collective_kernel("nccl", meeting))


def run(*program: Action, machine: Machine = PROMPT) -> RankTimeline:
    """What one rank alone does."""
    return simulate([program], machine).ranks[0]


def times(timeline: RankTimeline) -> list[tuple[int, int]]:
    """Start and end of each work, in the order of the launches."""
    return [(work.start_ns, work.end_ns) for work in timeline.works]
